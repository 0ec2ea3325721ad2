// Reads a line of the query language into a filter, in one pass from left to right, and says for a mistake where it is, what
// was found and what would be allowed. What the terms mean is in query-language.ts.

import { durationMs } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import { nearMiss } from '../model/near-miss.ts'
import { TASK_STATUSES, type TaskStatus } from '../model/task.ts'
import {
  type AmountField,
  fieldNamed,
  type NameField,
  QUERY_FIELDS,
  QUERY_REASONS,
  QUERY_STATUSES,
  type QueryCondition,
  type QueryField,
  type QueryLabel,
  type QueryOperator,
  type QueryTerm,
  STATUS_WORDS,
  type TaskFilter,
} from './query-language.ts'

export const QUERY_LENGTH_MAX = 1_000
export const QUERY_TERMS_MAX = 32

const FIELDS = Object.keys(QUERY_FIELDS)

/** A query that can't be read. */
export class QueryError extends InvalidError {
  /** Where in the text the mistake is, from 0. */
  readonly position: number

  constructor(position: number, problem: string) {
    super(`At character ${position + 1} of the query: ${problem}`)
    this.position = position
  }
}

/** The filter that the text stands for; an empty one for all tasks. `QueryError` if it can't be read. */
export function parseQuery(text: string): TaskFilter {
  if (typeof text !== 'string') throw new InvalidError(`A query is a text, not ${typeof text}.`)
  if (text.length > QUERY_LENGTH_MAX) {
    throw new QueryError(
      QUERY_LENGTH_MAX,
      `it goes on for ${text.length} characters; at most ${QUERY_LENGTH_MAX} are allowed.`,
    )
  }
  const reader = new Reader(text)
  const terms: QueryTerm[] = []
  for (let term = reader.term(); term !== null; term = reader.term()) {
    if (terms.length === QUERY_TERMS_MAX) {
      throw new QueryError(reader.termAt, `at most ${QUERY_TERMS_MAX} terms are allowed, and here comes one more.`)
    }
    terms.push(term)
  }
  return { terms }
}

const SPACES = /\s*/y
const KEYWORD = /(?:not|and|or)(?=\s|$)/iy
const HEAD = /([A-Za-z][A-Za-z0-9_]*)(?:\.([^\s:=<>!",]+))?(:|!=|<=|>=|=|<|>)/y
const BARE_TEXT = /[^\s"]+/y
const BARE_VALUE = /[^\s",]+/y
const QUOTED = /"((?:[^"\\]|\\["\\])*)"/y

interface Value {
  readonly text: string
  readonly at: number
}

class Reader {
  readonly #text: string
  #at = 0
  /** Where the last term began. */
  termAt = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Null at the end. */
  term(): QueryTerm | null {
    this.#take(SPACES)
    this.termAt = this.#at
    if (this.#isEnd) return null
    const negated = this.#negation()
    return { negated, condition: this.#condition() }
  }

  get #isEnd(): boolean {
    return this.#at >= this.#text.length
  }

  #negation(): boolean {
    const at = this.#at
    const word = this.#take(KEYWORD)?.[0].toLowerCase()
    if (word === 'and' || word === 'or') {
      throw new QueryError(
        at,
        `'${word}' does not stand between terms: all terms hold together, and a list means any of several, as in status:dead,waiting. To search for the word, write "${word}".`,
      )
    }
    if (word === 'not') this.#take(SPACES)
    else if (this.#text[at] === '-') this.#at++
    else return false
    const next = this.#text[this.#at]
    if (next === undefined || /\s/.test(next)) {
      throw new QueryError(at, `nothing follows '${word ?? '-'}'. Write what is not wanted, as in -status:dead.`)
    }
    if (next === '-') {
      throw new QueryError(this.#at, "a term is negated once. To search for a text that begins with '-', quote it.")
    }
    return true
  }

  #condition(): QueryCondition {
    const at = this.#at
    if (this.#text[at] === '"') return { kind: 'text', text: this.#quoted(/\s/) }
    const head = this.#take(HEAD)
    if (head !== null) {
      const [whole, word = '', name, operator = ''] = head
      const field = fieldNamed(word)
      if (field !== undefined && (name === undefined || field === 'label'))
        return this.#fieldCondition(field, name, operator, at)
      if (!operator.includes('=') || operator.length > 1) {
        // `a=b` may well be a text from a message; what looks more like a field is one that was misspelt.
        const what = whole.slice(0, whole.length - operator.length)
        throw new QueryError(
          at,
          `there is no field ${shown(what)}.${nearMiss(word, FIELDS)} Known are: ${FIELDS.join(', ')}. To search for the text, put it in quotes.`,
        )
      }
      this.#at = at
    }
    const text = this.#take(BARE_TEXT)?.[0] ?? ''
    this.#refuseQuote()
    return { kind: 'text', text }
  }

  #fieldCondition(field: QueryField, name: string | undefined, operator: string, at: number): QueryCondition {
    if (operator === '!=') {
      throw new QueryError(at, `there is no '!='. Write -${field}:… for what is not wanted.`)
    }
    const { kind } = QUERY_FIELDS[field]
    const isEqual = operator === ':' || operator === '='
    if (isEqual !== (kind !== 'time') && kind !== 'number') {
      throw new QueryError(
        at,
        kind === 'time'
          ? `${field} is compared: ${field}>1h, ${field}<10m. There is no ${field}${operator}.`
          : `${field} can not be compared with '${operator}'. Write ${field}:value, or ${field}:one,other for any of several.`,
      )
    }
    const values = this.#values(`${field}${name === undefined ? '' : `.${name}`}${operator}`)
    switch (field) {
      case 'status':
        return { kind: 'status', statuses: statusesOf(values) }
      case 'label':
        return { kind: 'label', labels: values.map((value) => labelOf(name, value)) }
      case 'age':
      case 'due':
      case 'died':
      case 'ended':
      case 'attempt':
      case 'failures':
      case 'losses':
      case 'generation':
      case 'priority':
        return amountCondition(field, isEqual ? null : (operator as QueryOperator), values)
      default:
        if (field === 'reason') for (const value of values) refuseUnknownReason(value)
        return nameCondition(field, values)
    }
  }

  /** One or more, with commas between them. */
  #values(before: string): [Value, ...Value[]] {
    const values: [Value, ...Value[]] = [this.#value(before)]
    while (this.#text[this.#at] === ',') {
      this.#at++
      values.push(this.#value(','))
    }
    return values
  }

  #value(before: string): Value {
    const at = this.#at
    if (this.#text[at] === '"') return { text: this.#quoted(/[\s,]/), at }
    const text = this.#take(BARE_VALUE)?.[0]
    if (text === undefined) {
      const found = this.#isEnd ? 'the end' : `'${this.#text[at] === ',' ? ',' : 'a space'}'`
      throw new QueryError(at, `a value is missing after ${shown(before)}; found ${found}. Write it without spaces.`)
    }
    this.#refuseQuote()
    return { text, at }
  }

  #quoted(followed: RegExp): string {
    const at = this.#at
    const inner = this.#take(QUOTED)?.[1]
    if (inner === undefined) {
      throw new QueryError(at, 'the quote is not closed. Inside, write \\" for a quote and \\\\ for a backslash.')
    }
    if (inner === '') throw new QueryError(at, 'there is nothing between the quotes.')
    const next = this.#text[this.#at]
    if (next !== undefined && !followed.test(next)) {
      throw new QueryError(this.#at, `after a closing quote comes a space, not ${shown(next)}.`)
    }
    return inner.replace(/\\(["\\])/g, '$1')
  }

  #refuseQuote(): void {
    if (this.#text[this.#at] !== '"') return
    throw new QueryError(
      this.#at,
      'a quote in the middle of a word. Put the whole text in quotes, and write \\" inside.',
    )
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found !== null) this.#at += found[0].length
    return found
  }
}

/** In the order of a task's life, each once: however it was written, it is one filter. */
function statusesOf(values: readonly Value[]): readonly TaskStatus[] {
  const wanted = new Set<TaskStatus>()
  for (const { text, at } of values) {
    const word = text.toLowerCase()
    const known = Object.hasOwn(STATUS_WORDS, word) ? STATUS_WORDS[word] : TASK_STATUSES.filter((one) => one === word)
    if (known === undefined || known.length === 0) {
      throw new QueryError(
        at,
        `there is no status ${shown(text)}.${nearMiss(word, QUERY_STATUSES)} Known are: ${QUERY_STATUSES.join(', ')}.`,
      )
    }
    for (const status of known) wanted.add(status)
  }
  return TASK_STATUSES.filter((status) => wanted.has(status))
}

function refuseUnknownReason({ text, at }: Value): void {
  if (text.includes('*') || QUERY_REASONS.includes(text)) return
  throw new QueryError(
    at,
    `there is no reason ${shown(text)}.${nearMiss(text, QUERY_REASONS)} Known are: ${QUERY_REASONS.join(', ')}.`,
  )
}

const nameCondition = (field: NameField, values: readonly Value[]): QueryCondition => ({
  kind: 'name',
  field,
  globs: values.map(({ text }) => text),
})

/** `label:name` alone is any value of that label. */
function labelOf(name: string | undefined, { text, at }: Value): QueryLabel {
  if (name !== undefined) return { name, glob: text }
  const equals = text.indexOf('=')
  const label =
    equals === -1 ? { name: text, glob: '*' } : { name: text.slice(0, equals), glob: text.slice(equals + 1) }
  if (label.name === '' || label.glob === '') {
    throw new QueryError(at, `${shown(text)} is no label. Write label:name=value, or label:name for any value.`)
  }
  return label
}

function amountCondition(
  field: AmountField,
  operator: QueryOperator | null,
  values: readonly [Value, ...Value[]],
): QueryCondition {
  const amounts = values.map((value) =>
    QUERY_FIELDS[field].kind === 'time' ? timeOf(field, value) : wholeOf(field, value),
  )
  if (operator === null) return { kind: 'equal', field, amounts }
  const [amount = 0] = amounts
  const [, second] = values
  if (second !== undefined) throw new QueryError(second.at, `${field}${operator} takes one value, not a list.`)
  return { kind: 'compare', field, operator, amount }
}

function wholeOf(field: AmountField, { text, at }: Value): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new QueryError(at, `${field} is a whole number, not ${shown(text)}. Write it as in ${field}>=3.`)
}

function timeOf(field: AmountField, { text, at }: Value): number {
  try {
    return durationMs(text)
  } catch {
    throw new QueryError(at, `${shown(text)} is no length of time. Write it as in ${field}>30s, 10m, 1h30m or 7d.`)
  }
}

/** What somebody wrote, short and in one line. */
const shown = (text: string): string =>
  `'${(text.length > 40 ? `${text.slice(0, 40)}…` : text).toWellFormed().replace(/[\p{Cc}\u2028\u2029]/gu, '?')}'`
