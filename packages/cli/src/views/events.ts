// Entries of the journal: as lines for people, and for programs with their fields in one order, wherever they came from.

import { formatDuration, JOURNAL_TYPES, type JournalEntry, nearest } from '@reprise/core'
import type { Style } from '../output/colours.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import { isoTime } from '../output/times.ts'

const STYLES: readonly (readonly [RegExp, Style])[] = [
  [/failed|lost|expired|opened|dropped/, 'red'],
  [/closed|resumed|redriven/, 'green'],
  [/paused|half_open|ramping|retried|cancelled|discarded/, 'yellow'],
]

export function eventLine(entry: JournalEntry, { line, paint }: People): void {
  const { type, at, taskId, attempt, actor, reason, data } = entry
  const style = STYLES.find(([pattern]) => pattern.test(type))?.[1]
  const about = taskId === null ? '' : ` ${plain(taskId)}${attempt === null ? '' : `#${attempt}`}`
  const details = detailsOf(data, reason)
  line(`${paint('dim', isoTime(at))} ${style === undefined ? type : paint(style, type)}${about} ${plain(reason)}`)
  line(paint('dim', `    by ${plain(actor)}${details === '' ? '' : `  ${plain(details)}`}`))
}

/** Times as times, spans as spans; what the reason, or a field before, has said already is left out. */
function detailsOf(data: JournalEntry['data'], reason: string): string {
  const said = new Set<unknown>([reason])
  const details: string[] = []
  for (const [name, value] of Object.entries(data)) {
    if (value === null || (typeof value === 'string' && said.has(value))) continue
    said.add(value)
    details.push(typeof value === 'number' ? numberText(name, value) : `${name}=${String(value)}`)
  }
  return details.join(' ')
}

function numberText(name: string, value: number): string {
  if (name === 'until' || name.endsWith('At')) return `${name.replace(/At$/, '')}=${momentText(value)}`
  return name.endsWith('Ms') ? `${name.slice(0, -2)}=${formatDuration(value)}` : `${name}=${value}`
}

/** To the second. A number that is no moment stays a number. */
const momentText = (at: number): string => (Math.abs(at) <= 8.64e15 ? isoTime(at).replace(/\.\d+Z$/, 'Z') : String(at))

export function eventRecord({ id, type, at, taskId, attempt, actor, reason, data }: JournalEntry): JournalEntry {
  return { id, type, at, taskId, attempt, actor, reason, data }
}

/** `execution.failed` of `execution.failed,task.*`, with or without `reprise.` before it. Refuses what no event can be. */
export function typeList(text: string | undefined): readonly string[] {
  const types = (text ?? '')
    .split(',')
    .map((type) => type.trim().replace(/^reprise\./, ''))
    .filter((type) => type !== '')
  for (const type of types) if (!JOURNAL_TYPES.some((known) => isOfType(type, known))) throw unknownType(type)
  return types
}

const isOfType = (wanted: string, type: string): boolean =>
  wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted

function unknownType(type: string): CommandError {
  const near = nearest(type, JOURNAL_TYPES)
  const shown = type.slice(0, 60)
  return new CommandError(`No event is of type '${shown}'.${near === null ? '' : ` Did you mean '${near}'?`}`, {
    exitCode: EXIT.usage,
    hint: `There are ${JOURNAL_TYPES.join(', ')}; and * stands for any end, as in 'task.*'.`,
  })
}

export function isOfTypes(types: readonly string[]): (entry: JournalEntry) => boolean {
  if (types.length === 0) return () => true
  return ({ type }) => types.some((wanted) => isOfType(wanted, type))
}
