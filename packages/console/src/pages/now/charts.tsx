// How it went over the last hour, or what the reader asks for: throughput, failures, retries and backlog, with marks where something
// changed. All charts share a cursor; dragging over one shows that part of the time in all.

import { useMemo } from 'react'
import { Link } from '../../address.tsx'
import type { OperationOutput } from '../../api/client.ts'
import { useOperation } from '../../api/operations.ts'
import { when } from '../../format.ts'
import { lastMinutes } from '../../parts/spark.tsx'
import { Answered } from '../../parts/states.tsx'
import { type ChartSeries, TimeChart } from '../../parts/time-chart.tsx'
import { useNow } from '../../time.ts'
import { useMarks } from './marks.ts'
import { showAll, showPart, useRange } from './range.ts'

const MINUTE_MS = 60_000

type Points = OperationOutput<'series'>['items']

/**
 * How many tasks were not done at the end of each minute: live, or dead and waiting for a decision. Counted back from now by what
 * came in and what ended. A death or a redrive changes nothing about it; what was discarded since is left out all along, as the
 * series has no discards.
 */
function backlogOf(
  points: Points,
  minute: number,
  minutes: number,
  counts: OperationOutput<'counts'> | undefined,
): readonly number[] {
  if (counts === undefined) return Array.from({ length: minutes }, () => 0)
  const changes = lastMinutes(
    points,
    minute,
    minutes,
    ({ accepted, succeeded, cancelled }) => accepted - succeeded - cancelled,
  )
  let left = counts.queued + counts.waiting + counts.running + counts.dead
  const back = changes.toReversed().map((change) => {
    const then = left
    left -= change
    // Imported tasks that had ended elsewhere came in and never ended here.
    return Math.max(0, then)
  })
  return back.toReversed()
}

export default function Charts() {
  const { minutes, part: chosen } = useRange()
  const { from = 0, to = Number.POSITIVE_INFINITY } = chosen ?? {}
  const asked = useOperation('series', { minutes })
  const marks = useMarks(minutes)
  const counts = useOperation('counts', {}).data
  const shown = marks.filter(({ at }) => at >= from && at <= to)
  const now = useNow()
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const points = asked.data?.items
  const lines = useMemo(() => {
    const times = Array.from({ length: minutes }, (_, index) => minute - (minutes - 1 - index) * MINUTE_MS)
    const isShown = (at: number): boolean => at >= from && at <= to
    const part = (values: readonly number[]): readonly number[] => values.filter((_, at) => isShown(times[at] ?? 0))
    const of = (field: 'accepted' | 'succeeded' | 'failed' | 'dead' | 'retried' | 'lost'): readonly number[] =>
      part(lastMinutes(points ?? [], minute, minutes, (point) => point[field]))
    const charts: readonly (readonly [title: string, series: readonly ChartSeries[]])[] = [
      [
        'Throughput per minute',
        [
          { name: 'accepted', colour: 'dim', isSum: true, values: of('accepted') },
          { name: 'succeeded', colour: 'succeeded', isSum: true, values: of('succeeded') },
        ],
      ],
      [
        'Failures per minute',
        [
          { name: 'failed attempts', colour: 'waiting', isSum: true, values: of('failed') },
          { name: 'dead', colour: 'dead', isSum: true, values: of('dead') },
        ],
      ],
      [
        'Retries per minute',
        [
          { name: 'retried', colour: 'held', isSum: true, values: of('retried') },
          { name: 'lost', colour: 'dead', isSum: true, values: of('lost') },
        ],
      ],
      [
        'Backlog: live and dead',
        [{ name: 'not done', colour: 'accent', values: part(backlogOf(points ?? [], minute, minutes, counts)) }],
      ],
    ]
    return { times: times.filter(isShown), charts }
  }, [points, counts, minute, minutes, from, to])
  return (
    <Answered of={asked} what="figures">
      {() => (
        <>
          {chosen !== null && (
            <p className="mb-1 text-sm">
              {when(chosen.from, now)} to {when(chosen.to, now)}{' '}
              <button type="button" className="link" onClick={showAll}>
                Show all of it
              </button>
            </p>
          )}
          <div className="grid gap-x-6 gap-y-3 sm:grid-cols-2 lg:grid-cols-4">
            {lines.charts.map(([title, series]) => (
              <TimeChart
                key={title}
                title={title}
                times={lines.times}
                series={series}
                marks={marks}
                onRange={showPart}
              />
            ))}
          </div>
          {shown.length > 0 && (
            <ol aria-label="What changed" className="mt-2 flex flex-col gap-0.5 text-sm">
              {shown.slice(-8).map(({ at, shape, says, kind, to: opens }) => (
                <li key={`${at} ${kind}`} className="flex gap-2">
                  <span aria-hidden="true" className="w-3 shrink-0 text-center text-dim">
                    {shape}
                  </span>
                  <span className="whitespace-nowrap text-dim">{when(at, now)}</span>
                  <bdi className="min-w-0 truncate" title={says}>
                    {opens === undefined ? (
                      says
                    ) : (
                      <Link to={opens} className="hover:underline">
                        {says}
                      </Link>
                    )}
                  </bdi>
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </Answered>
  )
}
