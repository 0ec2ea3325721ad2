// How a cause goes, minute by minute, with marks where something changed; and what changed just before it began.

import { lazy, Suspense, useMemo } from 'react'
import { when } from '../../format.ts'
import { lastMinutes } from '../../parts/spark.tsx'
import { Section } from '../../shell/page.tsx'
import { useNow } from '../../time.ts'
import type { GroupFigures } from './cases.ts'

const TimeChart = lazy(() => import('../../parts/time-chart.tsx').then(({ TimeChart: Chart }) => ({ default: Chart })))

const MINUTE_MS = 60_000
const MINUTES = 60

type Change = {
  readonly at: number
  readonly sentence: string
  readonly count: number
  readonly kind: string
  readonly actor: string
}

export function Trend({ group, marks }: { readonly group: GroupFigures; readonly marks: readonly Change[] }) {
  const now = useNow()
  const last = Math.floor(Math.min(now, group.lastAt + 30 * MINUTE_MS) / MINUTE_MS) * MINUTE_MS
  const { trend } = group
  const times = useMemo(
    () => Array.from({ length: MINUTES }, (_, index) => last - (MINUTES - 1 - index) * MINUTE_MS),
    [last],
  )
  const series = useMemo(
    () => [
      {
        name: 'failed attempts',
        colour: 'waiting',
        values: lastMinutes(trend, last, MINUTES, ({ attempts }) => attempts),
      },
      { name: 'dead', colour: 'dead', values: lastMinutes(trend, last, MINUTES, ({ deaths }) => deaths) },
    ],
    [trend, last],
  )
  const drawn = useMemo(() => marks.map(({ at, sentence }) => ({ at, says: sentence })), [marks])
  return (
    <Section title="Trend">
      <div className="min-h-36">
        <Suspense>
          <TimeChart title="Per minute" times={times} series={series} marks={drawn} />
        </Suspense>
      </div>
    </Section>
  )
}

const SHAPES: Readonly<Record<string, string>> = {
  worker: '▲',
  policies: '■',
  flag: '■',
  lanes: '‖',
  breaker: '‖',
  tasks: '↻',
  note: '■',
}

export function Changes({ changes, beganAt }: { readonly changes: readonly Change[]; readonly beganAt: number }) {
  const now = useNow()
  return (
    <Section title="What changed in the half hour before" aside={<>it began at {when(beganAt, now)}</>}>
      {changes.length === 0 && <p className="text-dim">Nothing that the journal knows of.</p>}
      <ol className="flex max-h-60 flex-col gap-1 overflow-auto">
        {changes.map(({ at, kind, sentence }) => (
          <li key={`${at} ${sentence}`} className="flex gap-2">
            <span aria-hidden="true" className="w-3 shrink-0 text-center text-dim">
              {SHAPES[kind] ?? '·'}
            </span>
            <span className="whitespace-nowrap text-dim">{when(at, now)}</span>
            <bdi className="min-w-0 break-words">{sentence}</bdi>
          </li>
        ))}
      </ol>
    </Section>
  )
}
