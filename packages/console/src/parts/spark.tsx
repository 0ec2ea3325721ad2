// A few numbers as a line of bars, for a row of a table: how it went, without axes. It says its sum and its last value to those
// who don't see it.

import { count } from '../format.ts'

const WIDTH = 96
const HEIGHT = 18

export function Spark({
  values,
  colour = 'text-dead',
  label,
}: {
  readonly values: readonly number[]
  readonly colour?: string
  readonly label: string
}) {
  const max = Math.max(1, ...values)
  const step = WIDTH / Math.max(values.length, 1)
  const sum = values.reduce((one, other) => one + other, 0)
  return (
    <svg
      role="img"
      aria-label={`${label}: ${count(sum)} in all, ${count(values.at(-1) ?? 0)} in the last minute`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      className={colour}
    >
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} stroke="currentColor" strokeOpacity="0.35" />
      {values.map((value, index) => {
        const height = value === 0 ? 0 : Math.max(1.5, (value / max) * (HEIGHT - 1))
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: the place is what tells the bars apart
            key={index}
            x={index * step}
            y={HEIGHT - height}
            width={Math.max(step - 1, 0.75)}
            height={height}
            fill="currentColor"
          />
        )
      })}
    </svg>
  )
}

const MINUTE_MS = 60_000

/** The last minutes of points that leave out minutes without events. */
export function lastMinutes<T extends { readonly at: number }>(
  points: readonly T[],
  now: number,
  minutes: number,
  of: (point: T) => number,
): number[] {
  const first = Math.floor(now / MINUTE_MS) * MINUTE_MS - (minutes - 1) * MINUTE_MS
  const values = Array.from({ length: minutes }, () => 0)
  for (const point of points) {
    const place = Math.round((point.at - first) / MINUTE_MS)
    if (place >= 0 && place < minutes) values[place] = (values[place] ?? 0) + of(point)
  }
  return values
}
