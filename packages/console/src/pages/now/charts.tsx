// How it went over the last hour, or what the reader asks for: throughput, failures and retries, with marks where something
// changed. All charts share a cursor; dragging over one shows that part of the time in all.

import { useMemo } from 'react'
import { Link } from '../../address.tsx'
import { useOperation } from '../../api/operations.ts'
import { when } from '../../format.ts'
import { lastMinutes } from '../../parts/spark.tsx'
import { Answered } from '../../parts/states.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import { useNow } from '../../time.ts'
import { useMarks } from './marks.ts'
import { showAll, showPart, useRange } from './range.ts'

const MINUTE_MS = 60_000

export default function Charts() {
  const { minutes, part } = useRange()
  const { from = 0, to = Number.POSITIVE_INFINITY } = part ?? {}
  const asked = useOperation('series', { minutes })
  const marks = useMarks(minutes)
  const shown = marks.filter(({ at }) => at >= from && at <= to)
  const now = useNow()
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const points = asked.data?.items
  const lines = useMemo(() => {
    const times = Array.from({ length: minutes }, (_, index) => minute - (minutes - 1 - index) * MINUTE_MS)
    const isShown = (at: number): boolean => at >= from && at <= to
    const of = (field: 'accepted' | 'succeeded' | 'failed' | 'dead' | 'retried' | 'lost') =>
      lastMinutes(points ?? [], minute, minutes, (point) => point[field]).filter((_, at) => isShown(times[at] ?? 0))
    return {
      times: times.filter(isShown),
      throughput: [
        { name: 'accepted', colour: 'dim', values: of('accepted') },
        { name: 'succeeded', colour: 'succeeded', values: of('succeeded') },
      ],
      failures: [
        { name: 'failed attempts', colour: 'waiting', values: of('failed') },
        { name: 'dead', colour: 'dead', values: of('dead') },
      ],
      retries: [
        { name: 'retried', colour: 'held', values: of('retried') },
        { name: 'lost', colour: 'dead', values: of('lost') },
      ],
    }
  }, [points, minute, minutes, from, to])
  return (
    <Answered of={asked} what="figures">
      {() => (
        <>
          {part !== null && (
            <p className="mb-1 text-sm">
              {when(part.from, now)} to {when(part.to, now)}{' '}
              <button type="button" className="link" onClick={showAll}>
                Show all of it
              </button>
            </p>
          )}
          <div className="grid gap-x-6 gap-y-3 lg:grid-cols-3">
            <TimeChart
              title="Throughput per minute"
              times={lines.times}
              series={lines.throughput}
              marks={marks}
              onRange={showPart}
            />
            <TimeChart
              title="Failures per minute"
              times={lines.times}
              series={lines.failures}
              marks={marks}
              onRange={showPart}
            />
            <TimeChart
              title="Retries per minute"
              times={lines.times}
              series={lines.retries}
              marks={marks}
              onRange={showPart}
            />
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
