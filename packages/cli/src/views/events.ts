// Events of the journal as lines for people, and the types that can be asked for.

import type { OperationOutput } from '@reprise/client'
import { formatDuration, JOURNAL_TYPES, nearest, typeFilter } from '@reprise/core'
import type { Style } from '../output/colours.ts'
import { type CommandError, usageError } from '../output/errors.ts'
import type { People } from '../output/output.ts'
import { plain, wrapTo } from '../output/plain-text.ts'
import { isoTime } from '../output/times.ts'

export type Event = OperationOutput<'listEvents'>['items'][number]

const STYLES: readonly (readonly [RegExp, Style])[] = [
  [/failed|lost|expired|opened|dropped|dead/, 'red'],
  [/closed|resumed|redriven|succeeded/, 'green'],
  [/paused|half_open|ramping|retried|cancelled|discarded|reverted/, 'yellow'],
]

/** `actions` are those of tasks, by their ids: for entries that don't name theirs. */
export function eventLine(
  event: Event,
  { line, prose, paint, columns }: People,
  actions: ReadonlyMap<string, string> = new Map(),
): void {
  const { taskId, attempt, actor, reason } = event.data
  const type = bareType(event.type)
  const style = STYLES.find(([pattern]) => pattern.test(type))?.[1]
  const about = taskId === null ? '' : ` ${plain(taskId)}${attempt === null ? '' : `#${attempt}`}`
  const { action = actions.get(taskId ?? ''), message, ...rest } = event.data.details
  const details = detailsOf(taskId === null ? event.data.details : rest, reason)
  // The action and what went wrong come first, then what happens next.
  const cause = typeof message === 'string' && message !== reason ? ` ${withStop(plain(message))}` : ''
  const named = typeof action === 'string' && taskId !== null ? ` ${plain(action)}` : ''
  const text = `${named}${about}${cause} ${plain(reason)}`.trimStart()
  const head = `${event.time} ${type} `
  const [first = '', ...more] = columns === null ? [text] : wrapBeside(text, head.length, columns)
  line(`${paint('dim', event.time)} ${style === undefined ? type : paint(style, type)} ${first}`.trimEnd())
  for (const one of more) line(`${INDENT}${one}`)
  prose(`by ${plain(actor)}${details === '' ? '' : `  ${plain(details)}`}`, { indent: INDENT.length, style: 'dim' })
}

const INDENT = ' '.repeat(4)

/** The first line begins behind a head, the others are indented. */
function wrapBeside(text: string, head: number, columns: number): readonly string[] {
  const [first = ''] = wrapTo(text, Math.max(columns - head, 1))
  const rest = text.slice(first.length).trimStart()
  return [first, ...(rest === '' ? [] : wrapTo(rest, Math.max(columns - INDENT.length, 1)))]
}

/** Ended like a sentence: another one follows. */
const withStop = (text: string): string => (/[.!?…\]]$/.test(text) ? text : `${text}.`)

/** Times as times, spans as spans; what the reason, or a field before, has said already is left out. */
function detailsOf(data: Event['data']['details'], reason: string): string {
  const said = new Set<unknown>([reason])
  const details: string[] = []
  for (const [name, value] of Object.entries(data)) {
    if (value === null || (typeof value === 'string' && said.has(value))) continue
    said.add(value)
    details.push(typeof value === 'number' ? numberText(name, value) : `${name}=${textOf(value)}`)
  }
  return details.join(' ')
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function numberText(name: string, value: number): string {
  if (name === 'until' || name.endsWith('At')) return `${name.replace(/At$/, '')}=${momentText(value)}`
  return name.endsWith('Ms') ? `${name.slice(0, -2)}=${formatDuration(value)}` : `${name}=${value}`
}

/** To the second. A number that is no moment stays a number. */
const momentText = (at: number): string => (Math.abs(at) <= 8.64e15 ? isoTime(at).replace(/\.\d+Z$/, 'Z') : String(at))

const bareType = (type: string): string => type.replace(/^reprise\./, '')

/** `execution.failed` of `execution.failed,task.*`, with or without `reprise.` before it. Refuses what no event can be. */
export function typeList(text: string | undefined): readonly string[] {
  const types = (text ?? '')
    .split(',')
    .map((type) => bareType(type.trim()))
    .filter((type) => type !== '')
  for (const type of types) if (!JOURNAL_TYPES.some(typeFilter([type]))) throw unknownType(type)
  return types
}

function unknownType(type: string): CommandError {
  const near = nearest(type, JOURNAL_TYPES)
  return usageError(
    `No event is of type '${type.slice(0, 60)}'.${near === null ? '' : ` Did you mean '${near}'?`}`,
    `There are ${JOURNAL_TYPES.join(', ')}; and * stands for any end, as in 'task.*'.`,
  )
}
