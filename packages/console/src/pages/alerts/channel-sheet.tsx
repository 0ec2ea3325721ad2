// One channel: which alerts it is told of, what it was told and what came back; a test, and to switch or remove it.

import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh, useList } from '../../api/operations.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { arrivalOf, Deliveries } from '../../parts/delivery.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { shellWord } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import { type Channel, ChannelMark, routeOf } from './channel-words.tsx'

type Act = 'test' | 'switch' | 'remove'

export function ChannelSheet({ channel, onClose }: { readonly channel: Channel; readonly onClose: () => void }) {
  const { id, name, kind, enabled, disabledBecause, destination, settings, createdBy } = channel
  const [act, setAct] = useState<Act | null>(null)
  const mayOperate = useMay('operate')
  const mayConfigure = useMay('configure')
  const told = useList('listChannelDeliveries', { id, limit: 100 })
  return (
    <Sheet
      title={<bdi>{name}</bdi>}
      onClose={onClose}
      actions={
        mayOperate ? (
          <>
            <button type="button" className="button button-main" onClick={() => setAct('test')}>
              Send a test …
            </button>
            {mayConfigure && (
              <>
                <button type="button" className="button" onClick={() => setAct('switch')}>
                  Switch {enabled ? 'off' : 'on'} …
                </button>
                <button type="button" className="button button-danger" onClick={() => setAct('remove')}>
                  Remove …
                </button>
              </>
            )}
          </>
        ) : undefined
      }
    >
      <p className="mb-3 text-md">
        <ChannelMark channel={channel} /> · is told of <bdi>{routeOf(channel)}</bdi>
      </p>
      {disabledBecause !== null && (
        <p className="mb-3 text-dead">
          ✕ <bdi>{disabledBecause}</bdi>
        </p>
      )}
      <Facts
        of={[
          ['kind', kind.replace('_', ' ')],
          ['to', <bdi key="to">{destination}</bdi>],
          ...Object.entries(settings).map(
            ([setting, value]) =>
              [
                setting,
                <bdi key={setting} className="break-all">
                  {typeof value === 'string' ? value : JSON.stringify(value)}
                </bdi>,
              ] as const,
          ),
          ['made by', <bdi key="by">{createdBy}</bdi>],
        ]}
      />
      <Section title="What it was told">
        <Deliveries of={told} none="Nothing yet. A test says whether it arrives." />
      </Section>
      {act !== null && <Confirm change={changeOf(act, channel, onClose)} onClose={() => setAct(null)} />}
    </Sheet>
  )
}

function changeOf(act: Act, { id, name, enabled, destination }: Channel, onGone: () => void): Change {
  const word = shellWord(name)
  if (act === 'test') {
    return {
      title: `Send a test to ${name}`,
      verb: 'Send it',
      hasReason: false,
      command: `npx reprise channels test ${word}`,
      touches: (
        <p>
          One message to <bdi className="break-all">{destination}</bdi> that says it is a test. No alert changes.
        </p>
      ),
      run: async () => {
        const delivery = await call('testChannel', { id })
        await refresh()
        return arrivalOf(delivery)
      },
    }
  }
  if (act === 'remove') {
    return {
      title: `Remove ${name}`,
      verb: 'Remove it',
      isDangerous: true,
      hasReason: false,
      command: `npx reprise channels remove ${word}`,
      touches: <p>It is told of nothing any more, and its deliveries are gone. This can't be taken back.</p>,
      run: async () => {
        await call('removeChannel', { id })
        onGone()
        await refresh()
        return `The channel ${name} is gone.`
      },
    }
  }
  const set = async (isOn: boolean): Promise<void> => {
    await call('updateChannel', { id, enabled: isOn })
    await refresh()
  }
  return {
    title: `Switch ${name} ${enabled ? 'off' : 'on'}`,
    verb: `Switch ${enabled ? 'off' : 'on'}`,
    hasReason: false,
    isDangerous: enabled,
    command: `npx reprise channels ${enabled ? 'disable' : 'enable'} ${word}`,
    touches: <p>{enabled ? 'It is told of nothing until it is on again.' : 'It is told of alerts from now on.'}</p>,
    run: async () => {
      await set(!enabled)
      return { says: `The channel ${name} is ${enabled ? 'off' : 'on'}.`, undo: () => set(enabled) }
    },
  }
}
