// How a cause goes, minute by minute, with marks where something changed; and what changed just before it began.

import { lazy, Suspense, useMemo, useState } from 'react'
import { Link } from '../../address.tsx'
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
        isSum: true,
        values: lastMinutes(trend, last, MINUTES, ({ attempts }) => attempts),
      },
      { name: 'dead', colour: 'dead', isSum: true, values: lastMinutes(trend, last, MINUTES, ({ deaths }) => deaths) },
    ],
    [trend, last],
  )
  const drawn = useMemo(
    () => marks.map(({ at, sentence, kind }) => ({ at, says: sentence, to: placeOf(kind) })),
    [marks],
  )
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

/** Where it can be looked at: what has no page of its own is in the journal. */
const PLACES: Readonly<Record<string, string>> = {
  worker: '/workers',
  policies: '/policies?tab=history',
  flag: '/settings?tab=flags',
  lanes: '/lanes',
  breaker: '/breakers',
}

const placeOf = (kind: string): string => PLACES[kind] ?? '/journal'

const SHOWN = 8

export function Changes({ changes, beganAt }: { readonly changes: readonly Change[]; readonly beganAt: number }) {
  const now = useNow()
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? changes : changes.slice(-SHOWN)
  return (
    <Section title="What changed in the half hour before" aside={<>it began at {when(beganAt, now)}</>}>
      {changes.length === 0 && <p className="text-dim">Nothing that the journal knows of.</p>}
      <ol className="flex flex-col gap-1">
        {shown.map(({ at, kind, sentence }) => (
          <li key={`${at} ${sentence}`} className="flex gap-2">
            <span aria-hidden="true" className="w-3 shrink-0 text-center text-dim">
              {SHAPES[kind] ?? '·'}
            </span>
            <span className="whitespace-nowrap text-dim">{when(at, now)}</span>
            <Link to={placeOf(kind)} className="min-w-0 break-words hover:underline">
              <bdi>{sentence}</bdi>
            </Link>
          </li>
        ))}
      </ol>
      {changes.length > SHOWN && (
        <button type="button" className="button mt-1 h-6 text-sm" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Less' : `${changes.length - SHOWN} before that`}
        </button>
      )}
    </Section>
  )
}
