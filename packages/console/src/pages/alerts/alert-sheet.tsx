// One alert: what it stands on, who was told, how it went before; and to say that one is at it, or to keep it quiet.

import { useState } from 'react'
import { address, Link } from '../../address.tsx'
import { call, type OperationOutput } from '../../api/client.ts'
import { useMay } from '../../api/me.ts'
import { refresh, useOperation } from '../../api/operations.ts'
import { many, moment, span } from '../../format.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { Facts } from '../../parts/facts.tsx'
import { RunbookLink } from '../../parts/runbook-link.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { Ago, At, Id, shellWord } from '../../parts/texts.tsx'
import { useCommands } from '../../shell/commands.ts'
import { Section } from '../../shell/page.tsx'
import { ALERT_LOOKS, matchersOf } from './alert-words.ts'

type Alert = OperationOutput<'getAlert'>
type Act = 'acknowledge' | 'silence'

const NAMES: Readonly<Record<Act, string>> = { acknowledge: 'Acknowledge', silence: 'Silence' }

export function AlertSheet({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const asked = useOperation('getAlert', { id }, { keepsPrevious: false })
  const mayOperate = useMay('operate')
  const [act, setAct] = useState<Act | null>(null)
  const alert = asked.data
  const isLive = mayOperate && alert !== undefined && alert.state.status !== 'resolved'
  const acts: readonly Act[] = [
    ...(isLive && alert.state.status === 'firing' ? ['acknowledge' as const] : []),
    ...(isLive && !alert.silenced ? ['silence' as const] : []),
  ]
  useCommands(
    acts.map((one) => ({ title: `${NAMES[one]}: this alert`, group: 'On this page', run: () => setAct(one) })),
  )
  return (
    <Sheet
      title={<bdi>{alert?.rule ?? id}</bdi>}
      onClose={onClose}
      actions={
        acts.length === 0
          ? undefined
          : acts.map((one) => (
              <button
                key={one}
                type="button"
                className={`button ${one === 'acknowledge' ? 'button-main' : ''}`}
                onClick={() => setAct(one)}
              >
                {NAMES[one]} …
              </button>
            ))
      }
    >
      <Answered of={asked} what="the alert">
        {(known) => <Known alert={known} />}
      </Answered>
      {act !== null && alert !== undefined && <OneAct act={act} alert={alert} onClose={() => setAct(null)} />}
    </Sheet>
  )
}

function Known({ alert }: { readonly alert: Alert }) {
  const { state, says, severity, group, value, runbook, firedAt, silenced, tasks, told, past } = alert
  return (
    <>
      <p className="text-md">
        <StateMark state={ALERT_LOOKS[state.status][0]} word={ALERT_LOOKS[state.status][1]} />{' '}
        <span className="text-dim">
          since <At at={state.since} />
        </span>{' '}
        · <bdi>{says}</bdi>
      </p>
      {state.status === 'acknowledged' && (
        <p>
          <bdi>{state.by}</bdi> is at it: <bdi>{state.reason}</bdi>
        </p>
      )}
      {silenced && <p className="text-held">‖ Nobody is told of it now: it is silenced.</p>}
      <Section title="What it stands on">
        <Facts
          of={[
            ...Object.entries(group).map(
              ([name, what]) => [NAMED[name] ?? name, <About key={name} name={name} what={what} />] as const,
            ),
            ['figure then', String(value)],
            ['severity', severity],
            ['fired', firedAt === null ? null : moment(firedAt)],
            [
              'runbook',
              runbook === null ? null : (
                <RunbookLink key="runbook" runbook={runbook} fingerprint={group['fingerprint'] ?? ''} />
              ),
            ],
          ]}
        />
        {tasks.length > 0 && (
          <p className="mt-2 flex flex-wrap gap-x-3">
            {tasks.map((task) => (
              <Link key={task} className="link" to={`/tasks/${encodeURIComponent(task)}`}>
                <Id id={task} />
              </Link>
            ))}
          </p>
        )}
        <p className="mt-2">
          <Link className="link" to={address('/journal', { type: 'alert.*', since: '7d' })}>
            alerts in the journal
          </Link>
        </p>
      </Section>
      <Section title="Who was told">
        {told.length === 0 && (
          <p className="text-dim">
            Nobody.{' '}
            <Link className="link" to="/alerts?tab=channels">
              Channels
            </Link>{' '}
            say who is told.
          </p>
        )}
        <ul>
          {told.map(({ channel, what, at, count }) => (
            <li key={channel} className="border-b border-line py-1">
              <bdi className="font-semibold">{channel}</bdi>: {what}, <Ago at={at} />
              {count > 1 && <span className="text-dim">, told {many(count, 'time')}</span>}
            </li>
          ))}
        </ul>
      </Section>
      {past.length > 0 && (
        <Section title="Before">
          <ul>
            {past.toReversed().map((one) => (
              <li key={one.firedAt} className="border-b border-line py-1">
                <Ago at={one.firedAt} />, for {span(one.resolvedAt - one.firedAt)}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  )
}

const NAMED: Readonly<Record<string, string>> = { workOrder: 'work order', fingerprint: 'cause' }

/** Where what an alert is about can be looked at. */
const PLACES: Readonly<Record<string, (what: string) => string>> = {
  workOrder: (id) => `/work-orders/${encodeURIComponent(id)}`,
  fingerprint: (cause) => `/failures/${encodeURIComponent(cause)}`,
  breaker: () => '/breakers',
  action: (action) => address('/tasks', { q: `action:${action}` }),
}

function About({ name, what }: { readonly name: string; readonly what: string }) {
  const place = PLACES[name]
  return place === undefined ? (
    <bdi>{what}</bdi>
  ) : (
    <Link className="link" to={place(what)}>
      <bdi>{what}</bdi>
    </Link>
  )
}

function OneAct({ act, alert, onClose }: { readonly act: Act; readonly alert: Alert; readonly onClose: () => void }) {
  const [time, setTime] = useState('2h')
  const { id, rule, group } = alert
  const matches = { ...group, rule }
  const given = time.trim()
  const changes: Readonly<Record<Act, Change>> = {
    acknowledge: {
      title: 'Acknowledge this alert',
      verb: 'Acknowledge',
      command: `npx reprise alerts ack ${shellWord(id)}`,
      touches: (
        <p>Others see that you are at it. Nobody is reminded, and no other channel is told. It resolves by itself.</p>
      ),
      run: async (reason) => {
        await call('acknowledgeAlert', { id, reason })
        await refresh()
        return 'The alert is acknowledged.'
      },
    },
    silence: {
      title: 'Silence it for a time',
      verb: 'Silence',
      command: `npx reprise alerts silence ${shellWord(id)} --for ${shellWord(given)}`,
      needsReason: true,
      isReady: given !== '',
      touches: (
        <p>
          Nobody is told of alerts with <bdi className="font-mono text-sm">{matchersOf(matches)}</bdi>. What is still
          there at the end is told then.
        </p>
      ),
      fields: (
        <label className="flex flex-col gap-1">
          <span className="label">How long, such as 30m or 2h</span>
          <input className="field" value={time} maxLength={40} onChange={(event) => setTime(event.target.value)} />
        </label>
      ),
      run: async (reason) => {
        const silence = await call('createSilence', { matches, for: given, reason: reason ?? '' })
        await refresh()
        return { says: `It is silenced for ${given}.`, undo: () => call('endSilence', { id: silence.id }) }
      },
    },
  }
  return <Confirm change={changes[act]} onClose={onClose} />
}
