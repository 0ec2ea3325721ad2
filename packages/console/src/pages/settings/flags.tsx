// Flags: parts that can be switched off and on while everything runs.

import { useState } from 'react'
import { call, type OperationOutput } from '../../api/client.ts'
import { useMay, useSeesAll } from '../../api/me.ts'
import { refresh, useOperation } from '../../api/operations.ts'
import { type Change, Confirm } from '../../parts/confirm.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Answered } from '../../parts/states.tsx'
import { Ago } from '../../parts/texts.tsx'

type Flag = OperationOutput<'listFlags'>['items'][number]

const WHILE_OFF: Readonly<Record<string, string>> = {
  'task-retry-queue': 'No automatic retry is scheduled: a failure that would be retried makes a dead letter.',
  'dlq-inspector':
    'Causes are not listed, and dead letters can not be redriven, discarded or retried. Nothing is lost.',
  'audit-streaming':
    'The journal is not sent out: no live stream, no webhooks. This console asks every few seconds instead. Receivers go on later from where they were.',
}

export function Flags() {
  const asked = useOperation('listFlags', {})
  const mayConfigure = useMay('configure')
  const seesAll = useSeesAll()
  const [asking, setAsking] = useState<Flag | null>(null)
  return (
    <Answered of={asked} what="the flags">
      {({ items }) => (
        <>
          <p className="pb-2 text-md">{sentenceOf(items)}</p>
          <ul aria-label="Flags" className="max-w-4xl border-t border-line">
            {items.map((flag) => (
              <li key={flag.name} className="flex flex-wrap items-start gap-x-4 gap-y-1 border-b border-line py-2">
                <span className="w-16 shrink-0">
                  <StateMark state={flag.on ? 'succeeded' : 'held'} word={flag.on ? 'on' : 'off'} />
                </span>
                <div className="min-w-0 flex-1 basis-64">
                  <p className="font-mono text-sm font-semibold">{flag.name}</p>
                  <p>{flag.description}</p>
                  {flag.changedAt !== null && (
                    <p className="text-sm text-dim">
                      Changed <Ago at={flag.changedAt} />
                      {flag.changedBy !== null && (
                        <>
                          {' '}
                          by <bdi>{flag.changedBy}</bdi>
                        </>
                      )}
                    </p>
                  )}
                </div>
                {mayConfigure && seesAll && (
                  <button type="button" className="button h-7 text-sm" onClick={() => setAsking(flag)}>
                    Switch {flag.on ? 'off' : 'on'} …
                  </button>
                )}
              </li>
            ))}
          </ul>
          {asking !== null && <Confirm change={switchOf(asking)} onClose={() => setAsking(null)} />}
        </>
      )}
    </Answered>
  )
}

function sentenceOf(flags: readonly Flag[]): string {
  const off = flags.filter(({ on }) => !on).map(({ name }) => name)
  if (off.length === 0) return 'Every part is switched on.'
  return `Switched off for all tenants: ${off.join(', ')}.`
}

function switchOf({ name, on }: Flag): Change {
  const to = on ? 'off' : 'on'
  const set = async (next: boolean, reason: string | undefined): Promise<void> => {
    await call('setFlag', { name, on: next, reason })
    await refresh()
  }
  return {
    title: `Switch ${name} ${to}`,
    verb: `Switch it ${to}`,
    isDangerous: on,
    needsReason: true,
    command: `npx reprise flags set ${name} ${to}`,
    touches: (
      <>
        <p>For all tenants; every process follows within seconds.</p>
        <p>
          {on
            ? (WHILE_OFF[name] ?? 'What it stands for does nothing while it is off.')
            : 'What it stands for works again.'}
        </p>
      </>
    ),
    run: async (reason) => {
      await set(!on, reason)
      return { says: `${name} is ${to}.`, undo: () => set(on, 'switch taken back') }
    },
  }
}
