// How it went over the last hour, or what the reader asks for: throughput, failures and retries, with marks where something
// changed. All charts share a cursor.

import { useMemo } from 'react'
import { useParam } from '../../address.tsx'
import { useOperation } from '../../api/operations.ts'
import { when } from '../../format.ts'
import { lastMinutes } from '../../parts/spark.tsx'
import { Answered } from '../../parts/states.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import { useNow } from '../../time.ts'
import { useMarks } from './marks.ts'

const MINUTE_MS = 60_000
const RANGES = [
  ['15', '15 m'],
  ['60', '1 h'],
  ['360', '6 h'],
  ['1440', '24 h'],
] as const

export default function Charts() {
  const [range] = useParam('minutes', '60')
  const minutes = Number(RANGES.find(([value]) => value === range)?.[0] ?? '60')
  const asked = useOperation('series', { minutes })
  const marks = useMarks(minutes)
  const now = useNow()
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS
  const points = asked.data?.items
  const lines = useMemo(() => {
    const of = (field: 'accepted' | 'succeeded' | 'failed' | 'dead' | 'retried' | 'lost') =>
      lastMinutes(points ?? [], minute, minutes, (point) => point[field])
    return {
      times: Array.from({ length: minutes }, (_, index) => minute - (minutes - 1 - index) * MINUTE_MS),
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
  }, [points, minute, minutes])
  return (
    <Answered of={asked} what="figures">
      {() => (
        <>
          <div className="grid gap-x-6 gap-y-3 lg:grid-cols-3">
            <TimeChart title="Throughput per minute" times={lines.times} series={lines.throughput} marks={marks} />
            <TimeChart title="Failures per minute" times={lines.times} series={lines.failures} marks={marks} />
            <TimeChart title="Retries per minute" times={lines.times} series={lines.retries} marks={marks} />
          </div>
          {marks.length > 0 && (
            <ol aria-label="What changed" className="mt-2 flex flex-col gap-0.5 text-sm">
              {marks.slice(-8).map(({ at, shape, says, kind }) => (
                <li key={`${at} ${kind}`} className="flex gap-2">
                  <span aria-hidden="true" className="w-3 text-center text-dim">
                    {shape}
                  </span>
                  <span className="whitespace-nowrap text-dim">{when(at, now)}</span>
                  <bdi className="min-w-0 truncate" title={says}>
                    {says}
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
