// One lane: how deep, how fast, what holds it, and what can be done.

import type { ReactNode } from 'react'
import { address, Link } from '../../address.tsx'
import { useOperation } from '../../api/operations.ts'
import { count, many, span } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { lastMinutes, Spark } from '../../parts/spark.tsx'
import { Section } from '../../shell/page.tsx'
import { useNow } from '../../time.ts'
import { type Begin, GateActions, GateLine } from './gates.tsx'
import type { Lane } from './lane.ts'

const MINUTES = 60
const RATE_MINUTES = 10
const MINUTE_MS = 60_000

export function LaneSheet({
  lane,
  begin,
  onClose,
  children,
}: {
  readonly lane: Lane
  readonly begin: Begin
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const { pool, action, tenant, counts, gates } = lane
  const scope = { pool, action, tenant }
  const q = (status: string): string =>
    address('/tasks', { q: `status:${status} action:"${action}" tenant:"${tenant}" pool:"${pool}"` })
  return (
    <Sheet
      title={
        <bdi>
          {action} <span className="font-normal text-dim">of {tenant}</span>
        </bdi>
      }
      onClose={onClose}
      actions={
        begin === null ? undefined : (
          <>
            <button type="button" className="button" onClick={() => begin('pause', scope)}>
              Pause this lane …
            </button>
            <button type="button" className="button" onClick={() => begin('limit', scope)}>
              Limit this lane …
            </button>
          </>
        )
      }
    >
      <Section title={gates.length === 0 ? 'Nothing holds it' : 'What holds it'}>
        <ul>
          {gates.map((gate, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: gates have no names, and their order is fixed
            <li key={index} className="flex flex-wrap items-center gap-2 py-1">
              <GateLine gate={gate} />
              <GateActions gate={gate} begin={begin} />
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Its tasks">
        <Facts
          of={(['queued', 'waiting', 'running', 'dead', 'succeeded'] as const).map((status) => [
            status,
            <Link key={status} to={q(status)} className="link">
              {count(counts[status])}
            </Link>,
          ])}
        />
      </Section>
      <Rate lane={lane} />
      {children}
    </Sheet>
  )
}

function Rate({ lane: { pool, action, tenant, counts } }: { readonly lane: Lane }) {
  const asked = useOperation('series', { pool, action, tenant, minutes: MINUTES }, { keepsPrevious: false })
  const now = useNow()
  const points = asked.data?.items
  if (points === undefined) return null
  const ended = lastMinutes(points, now, MINUTES, ({ succeeded, dead }) => succeeded + dead)
  const came = lastMinutes(points, now, MINUTES, ({ accepted }) => accepted)
  const failed = lastMinutes(points, now, MINUTES, (point) => point.failed)
  const lately = ended.slice(-RATE_MINUTES - 1, -1).reduce((sum, value) => sum + value, 0) / RATE_MINUTES
  const waits = counts.queued + counts.waiting
  const row = (name: string, values: readonly number[], colour: string) => (
    <div className="flex items-center gap-3">
      <span className="w-24 text-sm text-dim">{name}</span>
      <Spark values={values} colour={colour} label={name} />
      <span>{count(values.reduce((sum, value) => sum + value, 0))}</span>
    </div>
  )
  return (
    <Section title="The last hour">
      <div className="flex flex-col gap-1">
        {row('came in', came, 'text-dim')}
        {row('ended', ended, 'text-succeeded')}
        {row('failed attempts', failed, 'text-dead')}
      </div>
      <p className="mt-2 text-dim">
        {waits === 0
          ? `${lately.toFixed(1)} a minute end, and nothing waits.`
          : lately === 0
            ? `Nothing ended in the last ${RATE_MINUTES} minutes, so nobody can say how long ${many(waits, 'task')} will take.`
            : `${lately.toFixed(1)} a minute end. At this pace the ${many(waits, 'task')} that wait${waits === 1 ? 's' : ''} now take${waits === 1 ? 's' : ''} ${span((waits / lately) * MINUTE_MS)}.`}
      </p>
    </Section>
  )
}
