// Failures, deaths and recoveries of an incident over its time, with a mark for each thing that may explain them. Dragging sets the
// period.

import { useMemo } from 'react'
import { setParams } from '../../address.tsx'
import { type ChartMark, TimeChart } from '../../parts/time-chart.tsx'
import { type Line, placeOf } from './incident-words.ts'

const MINUTE_MS = 60_000
const POINTS_MAX = 240
const MARKS_MAX = 60
const MARKED: ReadonlySet<string> = new Set(['deploy', 'breaker', 'operator', 'redrive', 'runbook'])

export default function IncidentChart({ lines }: { readonly lines: readonly Line[] }) {
  const { times, series } = useMemo(() => chartOf(lines), [lines])
  const marks: readonly ChartMark[] = lines
    .filter(({ kind }) => MARKED.has(kind))
    .slice(-MARKS_MAX)
    .map((line) => {
      const to = placeOf(line)
      return { at: line.at, says: line.text, ...(to === null ? {} : { to }) }
    })
  return (
    <TimeChart
      title="What failed and what recovered"
      times={times}
      series={series}
      marks={marks}
      height={110}
      onRange={showPeriod}
    />
  )
}

const showPeriod = (from: number, to: number): void =>
  setParams({ since: new Date(from).toISOString(), until: new Date(Math.max(to, from + MINUTE_MS)).toISOString() })

function chartOf(lines: readonly Line[]) {
  const first = lines[0]?.at ?? 0
  const last = lines.at(-1)?.until ?? first
  const minutes = Math.floor(last / MINUTE_MS) - Math.floor(first / MINUTE_MS) + 1
  const stepMs = Math.ceil(minutes / POINTS_MAX) * MINUTE_MS
  const begin = Math.floor(first / stepMs) * stepMs - stepMs
  const times = Array.from({ length: Math.floor((last - begin) / stepMs) + 2 }, (_, at) => begin + at * stepMs)
  const sums = (of: (line: Line) => number): number[] => {
    const values = times.map(() => 0)
    for (const line of lines) {
      const at = Math.floor((line.at - begin) / stepMs)
      values[at] = (values[at] ?? 0) + of(line)
    }
    return values
  }
  return {
    times,
    series: [
      {
        name: 'failed attempts',
        colour: 'waiting',
        isSum: true,
        values: sums(({ kind, count }) => (kind === 'failures' ? count : 0)),
      },
      { name: 'died', colour: 'dead', isSum: true, values: sums(({ dead }) => dead) },
      {
        name: 'recovered',
        colour: 'succeeded',
        isSum: true,
        values: sums(({ kind, count }) => (kind === 'recoveries' ? count : 0)),
      },
    ],
  }
}
