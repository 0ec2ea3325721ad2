// Values over time: zero at the bottom, one cursor over all charts of a page, drag to set the range, and lines where something
// changed. What the cursor is on is written above the chart, so that nothing covers it.

import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { navigate } from '../address.tsx'
import { clock, count, day, hour, short } from '../format.ts'
import { usePreferences } from '../preferences.ts'

export interface ChartSeries {
  readonly name: string
  /** The name of a colour token: `dead`. */
  readonly colour: string
  readonly values: readonly number[]
  /** Whether a value is a sum over the time until the next one, and so is drawn over all of it. */
  readonly isSum?: boolean
}

export interface ChartMark {
  readonly at: number
  readonly says: string
  /** Where a click on it leads. */
  readonly to?: string
}

interface TimeChartProps {
  readonly title: string
  /** Moments in milliseconds, ascending. */
  readonly times: readonly number[]
  readonly series: readonly ChartSeries[]
  readonly marks?: readonly ChartMark[]
  /** Charts with the same word share their cursor. */
  readonly together?: string
  readonly height?: number
  readonly onRange?: (from: number, to: number) => void
}

const SECOND_MS = 1_000
/** Less is a click. */
const DRAG_PX_MIN = 4
/** As near is on it. */
const MARK_PX = 5
/** Between what is written below: minutes at the least, since values are by the minute. */
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440].map((minutes) => minutes * 60)
const DAY_S = 86_400
const AXIS_FONT = '11px system-ui, sans-serif'

export function TimeChart({
  title,
  times,
  series,
  marks = [],
  together = 'page',
  height = 120,
  onRange,
}: TimeChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | null>(null)
  const [at, setAt] = useState<number | null>(null)
  const [mark, setMark] = useState<ChartMark | null>(null)
  const { theme } = usePreferences()
  const latest = useRef({ marks, onRange })
  latest.current = { marks, onRange }
  const shape = series.map(({ name, colour, isSum }) => `${name} ${colour} ${isSum === true}`).join()

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new chart only for another theme or other series; values are set below
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const made = new uPlot(
      {
        width: current.clientWidth,
        height,
        legend: { show: false },
        cursor: {
          sync: { key: together },
          drag: { x: true, y: false, setScale: false },
          points: { size: 5 },
          y: false,
        },
        scales: { y: { range: (_, __, max) => [0, Math.max(max, 1)] } },
        padding: [8, 20, 0, 0],
        axes: [
          axis(current, {
            size: 24,
            space: 60,
            incrs: STEPS_S,
            values: (_, ticks, __, ___, step) => ticks.map((tick) => (step < DAY_S ? hour : day)(tick * SECOND_MS)),
          }),
          axis(current, {
            size: 40,
            space: 24,
            values: (_, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? short(tick) : '')),
          }),
        ],
        series: [
          {},
          ...series.map(({ name, colour, isSum }) => ({
            label: name,
            stroke: tokenOf(current, colour),
            width: 1.5,
            ...(isSum === true && steps !== undefined ? { paths: steps } : {}),
            points: { show: false },
          })),
        ],
        hooks: {
          draw: [(drawn) => drawMarks(drawn, latest.current.marks, tokenOf(current, 'edge'))],
          setCursor: [
            (drawn) => {
              setAt(drawn.cursor.idx ?? null)
              setMark(markNear(drawn, latest.current.marks))
            },
          ],
          setSelect: [
            (drawn) => {
              const { left, width } = drawn.select
              if (width < DRAG_PX_MIN) return
              latest.current.onRange?.(
                drawn.posToVal(left, 'x') * SECOND_MS,
                drawn.posToVal(left + width, 'x') * SECOND_MS,
              )
              drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            },
          ],
        },
      },
      [[], ...series.map(() => [])],
      current,
    )
    chart.current = made
    const resize = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height }))
    resize.observe(current)
    return () => {
      resize.disconnect()
      made.destroy()
      chart.current = null
    }
  }, [theme, shape, height, together])

  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has made a new chart, which has no values yet
  useEffect(() => {
    const [first, second] = times
    // The last value holds until now, and so does what changed since: both need room.
    const end = first === undefined || second === undefined ? [] : [(times.at(-1) ?? 0) + second - first]
    const whole = [...times, ...end].map((time) => time / SECOND_MS)
    chart.current?.setData([whole, ...series.map(({ values }) => [...values, ...end.map(() => values.at(-1) ?? 0)])])
  }, [times, series, theme])

  // Marks come by a way of their own, often after the values.
  const marked = marks.map((one) => one.at).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew when the marks are others
  useEffect(() => chart.current?.redraw(false), [marked])

  const place = Math.min(at ?? times.length, times.length - 1)
  const moment = times[place]
  return (
    <figure className="min-w-0" aria-label={title}>
      <figcaption className="text-sm">
        <span className="flex items-baseline justify-between gap-x-3">
          <span className="text-dim">{title}</span>
          <span className="min-w-0 truncate text-xs text-dim">
            {moment === undefined ? '' : at === null ? 'last minute' : clock(moment)}
            {mark !== null && (
              <>
                {' · '}
                <bdi>{mark.says}</bdi>
              </>
            )}
          </span>
        </span>
        <span className="flex flex-wrap gap-x-3">
          {series.map(({ name, colour, values }) => (
            <span key={name} className="whitespace-nowrap">
              <span aria-hidden="true" style={{ color: `var(--color-${colour})` }}>
                ▬
              </span>{' '}
              <span className="text-dim">{name}</span> {count(values[place] ?? 0)}
            </span>
          ))}
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: where a mark leads is a link below the charts, too */}
      <div
        ref={box}
        className={`mt-1 w-full overflow-hidden ${mark?.to === undefined ? '' : 'cursor-pointer'}`}
        title={mark?.says}
        onClick={() => {
          if (mark?.to !== undefined) navigate(mark.to)
        }}
      />
    </figure>
  )
}

const steps = uPlot.paths.stepped?.({ align: 1 })

/** What a token is in this theme: a canvas knows no variables. */
function tokenOf(near: Element, token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(--color-${token})`
  near.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function axis(near: Element, more: uPlot.Axis): uPlot.Axis {
  return {
    stroke: tokenOf(near, 'dim'),
    font: AXIS_FONT,
    grid: { stroke: tokenOf(near, 'line'), width: 1 },
    ticks: { show: false },
    ...more,
  }
}

/** The mark that the cursor is on, the nearest of several. */
function markNear(chart: uPlot, marks: readonly ChartMark[]): ChartMark | null {
  const { left } = chart.cursor
  if (left === undefined || left < 0) return null
  const distance = ({ at }: ChartMark): number => Math.abs(chart.valToPos(at / SECOND_MS, 'x') - left)
  const [nearest] = marks.toSorted((one, other) => distance(one) - distance(other))
  return nearest !== undefined && distance(nearest) <= MARK_PX ? nearest : null
}

function drawMarks(chart: uPlot, marks: readonly ChartMark[], colour: string): void {
  const { ctx, bbox } = chart
  ctx.save()
  ctx.strokeStyle = colour
  ctx.fillStyle = colour
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio])
  for (const { at } of marks) {
    const x = Math.round(chart.valToPos(at / SECOND_MS, 'x', true))
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}
