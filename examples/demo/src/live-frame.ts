// One frame of the live view, as lines of text that fit the terminal. Pure: the same facts and the same size give the
// same lines. Text is cut to its place before it is coloured, so that codes never count as columns.

import { type DemoProgress, dueText, ended, type RetryNote } from './progress.ts'
import type { DemoEvent, DemoTitle, Tone } from './view.ts'
import { clip, fit, grouped, type Paint, seconds } from './words.ts'

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

const WIDTH_MAX = 120
const RETRIES_MAX = 8
const EVENTS_MAX = 8
/** Empty lines and headings between the parts. */
const LINES_BETWEEN = 5

const STYLE_BY_TONE = { good: 'green', bad: 'red', plain: 'reset' } as const satisfies Record<Tone, string>

export function frame(
  title: DemoTitle,
  progress: DemoProgress,
  events: readonly DemoEvent[],
  { columns, rows }: ScreenSize,
  paint: Paint,
): string[] {
  const width = Math.min(columns, WIDTH_MAX)
  const top = [headLine(title, progress, width, paint), barLine(progress, width, paint)]
  const counts = [
    ...countsLines(progress, width, paint),
    paint('dim', clip(`retries ${progress.retries} · attempts lost with a worker ${progress.lostAttempts}`, width)),
  ]
  // What is left of the screen is for retries and events. The last line of it is where the cursor rests.
  const room = Math.max(rows - 1 - top.length - counts.length - LINES_BETWEEN, 2)
  const maxRetries = Math.min(RETRIES_MAX, Math.floor(room / 2))
  const maxEvents = Math.min(EVENTS_MAX, room - maxRetries)
  const lines = [
    ...top,
    '',
    ...counts,
    '',
    paint('bold', retryLine(width, 'Recent retries', 'attempt', 'why', 'next')),
    ...padded(maxRetries, progress.recentRetries, (note) => noteLine(note, progress.now, width, paint)),
    '',
    paint('bold', 'Events'),
    ...padded(maxEvents, events, (event) => eventLine(event, width, paint)),
  ]
  return lines.slice(0, Math.max(rows - 1, 1))
}

function headLine(title: DemoTitle, { elapsedMs }: DemoProgress, width: number, paint: Paint): string {
  const time = seconds(elapsedMs)
  const { tasks, tenants, workers, seed } = title
  const facts = `${grouped(tasks)} tasks · ${tenants} tenants · ${workers} workers · seed ${seed}`
  const name = 'Reprise demo'
  const space = Math.max(width - name.length - 2 - time.length - 1, 0)
  return `${paint('bold', name)}  ${paint('dim', fit(facts, space))} ${time}`
}

function barLine({ counts }: DemoProgress, width: number, paint: Paint): string {
  const done = ended(counts)
  const share = counts.accepted === 0 ? 0 : done / counts.accepted
  const text = ` ${String(Math.floor(share * 100)).padStart(3)} %  ${grouped(done)} of ${grouped(counts.accepted)} ended`
  const length = Math.max(width - text.length, 5)
  const full = Math.floor(share * length)
  // The dead letters' part of the bar is as long as their part of the tasks, and never invisible.
  const dead = counts.dead === 0 ? 0 : Math.min(Math.max(Math.round((counts.dead / counts.accepted) * length), 1), full)
  const bar = paint('green', '█'.repeat(full - dead)) + paint('red', '█'.repeat(dead))
  return `${bar}${paint('dim', '░'.repeat(length - full))}${text}`
}

/** Numbers keep their place while they grow, so that the line does not dance. Two lines where one is too long. */
function countsLines({ counts }: DemoProgress, width: number, paint: Paint): string[] {
  const digits = grouped(counts.accepted).length
  const cells = [
    { name: 'queued', count: counts.queued, style: 'reset' },
    { name: 'waiting', count: counts.waiting, style: 'yellow' },
    { name: 'running', count: counts.running, style: 'cyan' },
    { name: 'succeeded', count: counts.succeeded, style: 'green' },
    { name: 'dead', count: counts.dead, style: 'red' },
  ] as const
  const gap = 3
  const length = cells.reduce((sum, { name }) => sum + name.length + 1 + digits + gap, -gap)
  const painted = cells.map(({ name, count, style }) => paint(style, `${name} ${grouped(count).padStart(digits)}`))
  const rows = length <= width ? [painted] : [painted.slice(0, 3), painted.slice(3)]
  return rows.map((row) => row.join(' '.repeat(gap)))
}

function noteLine(note: RetryNote, now: number, width: number, paint: Paint): string {
  const why = note.code === note.reason ? note.reason : `${note.reason} (${note.code})`
  const line = retryLine(width, note.taskId, String(note.attempt), why, dueText(note, now))
  return paint(note.dueAt <= now ? 'dim' : 'yellow', line)
}

function retryLine(width: number, task: string, attempt: string, why: string, next: string): string {
  const taskWidth = Math.max(Math.floor(width * 0.3), 16)
  const whyWidth = Math.max(width - taskWidth - 9 - 2 - 10, 10)
  return clip(`${fit(task, taskWidth)}${attempt.padStart(8)}   ${fit(why, whyWidth)} ${next}`, width)
}

function eventLine({ atMs, tone, text }: DemoEvent, width: number, paint: Paint): string {
  const time = seconds(atMs).padStart(7)
  return `${paint('dim', time)}  ${paint(STYLE_BY_TONE[tone], clip(text, width - time.length - 2))}`
}

/** The newest items, and empty lines up to `lines`, so that the frame keeps its height. */
function padded<T>(lines: number, items: readonly T[], line: (item: T) => string): string[] {
  const shown = items.slice(-lines).map(line)
  return [...shown, ...Array.from({ length: lines - shown.length }, () => '')]
}
