// One webhook: what was sent to it and what came back, a ping, and the way to send something again.

import { useState } from 'react'
import { useParam } from '../../address.tsx'
import { call } from '../../api/client.ts'
import { refresh, useList } from '../../api/operations.ts'
import { AddressChoice } from '../../parts/choice.tsx'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { arrivalOf, Deliveries, type Delivery } from '../../parts/delivery.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Ago, shellWord } from '../../parts/texts.tsx'
import { Section } from '../../shell/page.tsx'
import type { Webhook } from './webhooks.tsx'

type Act = 'test' | 'switch' | 'remove' | { readonly again: Delivery }

const STATUSES = [
  { value: '', word: 'All' },
  { value: 'pending', word: 'Pending' },
  { value: 'delivered', word: 'Delivered' },
  { value: 'given_up', word: 'Given up' },
] as const

export function WebhookSheet({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const { id, url, enabled, disabledBecause, types, actions, tenant, description } = webhook
  const [act, setAct] = useState<Act | null>(null)
  const [status] = useParam('deliveries')
  const sent = useList('listDeliveries', {
    id,
    limit: 100,
    ...(status === '' ? {} : { status: status as Delivery['status'] }),
  })
  return (
    <Sheet
      title={<bdi className="font-mono text-base break-all">{url}</bdi>}
      onClose={onClose}
      actions={
        <>
          <button type="button" className="button" onClick={() => setAct('test')}>
            Send a ping …
          </button>
          <button type="button" className="button" onClick={() => setAct('switch')}>
            Switch {enabled ? 'off' : 'on'} …
          </button>
          <button type="button" className="button button-danger" onClick={() => setAct('remove')}>
            Remove …
          </button>
        </>
      }
    >
      <p className="mb-2 text-md">
        <StateMark
          state={enabled ? 'succeeded' : disabledBecause === null ? 'held' : 'dead'}
          word={enabled ? 'on' : 'off'}
        />
        {disabledBecause !== null && (
          <>
            {' '}
            · <bdi className="text-dead">{disabledBecause}</bdi>
          </>
        )}
      </p>
      <Facts
        of={[
          ['events', <bdi key="types">{types.length === 0 ? 'all' : types.join(', ')}</bdi>],
          ['actions', <bdi key="actions">{actions.length === 0 ? 'all' : actions.join(', ')}</bdi>],
          ['tenant', <bdi key="tenant">{tenant ?? 'all'}</bdi>],
          ['for', description === '' ? null : <bdi key="for">{description}</bdi>],
          ['made by', <bdi key="by">{webhook.createdBy}</bdi>],
          ['made', <Ago key="made" at={webhook.createdAt} />],
          [
            'id',
            <bdi key="id" className="font-mono text-sm">
              {id}
            </bdi>,
          ],
        ]}
      />
      <Section title="Deliveries">
        <AddressChoice label="Which deliveries" param="deliveries" choices={STATUSES} />
        <Deliveries
          of={sent}
          none={status === '' ? 'Nothing was sent to it yet. Send a ping.' : 'None is like that.'}
          actionOf={(delivery) => (
            <button type="button" className="button h-6 text-sm" onClick={() => setAct({ again: delivery })}>
              Send again …
            </button>
          )}
        />
      </Section>
      {act !== null && <Confirm change={changeOf(act, webhook, onClose)} onClose={() => setAct(null)} />}
    </Sheet>
  )
}

function changeOf(act: Act, { id, url, enabled }: Webhook, onGone: () => void): Change {
  const word = shellWord(id)
  if (act === 'test') {
    return {
      title: 'Send a ping',
      verb: 'Send it',
      hasReason: false,
      command: `npx reprise webhooks test ${word}`,
      touches: (
        <p>
          One request to <bdi className="break-all">{url}</bdi>, signed as all are. Nothing else changes.
        </p>
      ),
      run: async () => {
        const delivery = await call('testWebhook', { id })
        await refresh()
        return arrivalOf(delivery)
      },
    }
  }
  if (act === 'switch') {
    const set = async (next: boolean): Promise<void> => {
      await call('updateWebhook', { id, enabled: next })
      await refresh()
    }
    return {
      title: enabled ? 'Switch it off' : 'Switch it on',
      verb: enabled ? 'Switch off' : 'Switch on',
      hasReason: false,
      command: `npx reprise webhooks ${enabled ? 'disable' : 'enable'} ${word}`,
      touches: (
        <p>
          {enabled
            ? 'Nothing is sent to it until it is switched on again; then it goes on where it stopped.'
            : 'It goes on where it stopped: what happened meanwhile is sent now.'}
        </p>
      ),
      run: async () => {
        await set(!enabled)
        return { says: `The webhook is ${enabled ? 'off' : 'on'}.`, undo: () => set(enabled) }
      },
    }
  }
  if (act === 'remove') {
    return {
      title: 'Remove this webhook',
      verb: 'Remove it',
      isDangerous: true,
      hasReason: false,
      command: `npx reprise webhooks remove ${word}`,
      touches: <p>Nothing is sent to it any more, and its deliveries are gone. This can't be taken back.</p>,
      run: async () => {
        await call('removeWebhook', { id })
        onGone()
        await refresh()
        return 'The webhook is gone.'
      },
    }
  }
  const { again } = act
  return {
    title: 'Send it again',
    verb: 'Send it',
    hasReason: false,
    command: `npx reprise webhooks redeliver ${word} ${shellWord(again.id)}`,
    touches: (
      <p>
        The same event with the same id, {again.type.replace(/^reprise\./, '')}, to{' '}
        <bdi className="break-all">{url}</bdi>. A receiver that remembers ids does nothing twice.
      </p>
    ),
    run: async () => {
      await call('redeliver', { id, delivery: again.id })
      await refresh()
      return 'It is sent again.'
    },
  }
}
