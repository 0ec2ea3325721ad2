// Queries as they are typed in a shell.

import { fieldNamed, parseQuery, queryWarnings, type TaskFilter } from '@reprise/core'
import type { Invocation } from '../command/invocation.ts'

const HEAD = /^(-?\w+(?:\.[^\s:=<>!",]+)?(?:!=|<=|>=|:|=|<|>))(.*)$/s

/**
 * The words of a query, together again. The shell took the quotes away: a word with a space in it, beside others, was quoted
 * there, and is quoted again, unless it is made of terms such as `not code:HTTP_500`. One word alone is the whole query.
 */
export function queryOf(words: readonly string[]): string {
  if (words.length <= 1) return words[0] ?? ''
  return words.map((word) => (/\s/.test(word) && !word.includes('"') ? termsOrText(word) : word)).join(' ')
}

/** The query that a command was given as its arguments. What it may not have been meant to say is said. */
export function askedQuery(invocation: Invocation, words: readonly string[] = invocation.arguments): string {
  const query = queryOf(words)
  const filter = filterOf(query)
  // What can't be read is refused by the operation, in its own words.
  if (filter !== null) for (const warning of queryWarnings(filter)) invocation.output.warn(warning)
  return query
}

/** A term that begins with a minus is no option: it goes behind `--`, where all words are arguments. */
export function withTermsLast(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  const [before, after] = end === -1 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)]
  const isTerm = (word: string, at: number): boolean => isNegatedTerm(word) && before[at - 1] !== '--query'
  const terms = before.filter(isTerm)
  return terms.length === 0 ? argv : [...before.filter((word, at) => !isTerm(word, at)), '--', ...terms, ...after]
}

const isNegatedTerm = (word: string): boolean => {
  const [, field] = /^-([A-Za-z][A-Za-z_]*)(?:\.[^\s:=<>!",]+)?[:<>]/.exec(word) ?? []
  return field !== undefined && fieldNamed(field) !== undefined
}

const termsOrText = (word: string): string =>
  filterOf(word)?.terms.every(({ condition }) => condition.kind !== 'text') === true ? word : quotedAgain(word)

function filterOf(query: string): TaskFilter | null {
  try {
    return parseQuery(query)
  } catch {
    return null
  }
}

function quotedAgain(word: string): string {
  const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\')}"`
  const [, head, rest = ''] = HEAD.exec(word) ?? []
  return head === undefined ? quoted(word) : `${head}${quoted(rest)}`
}

/** A term that holds for this value alone. */
export const termOf = (field: string, value: string): string => `${field}:"${value.replaceAll(/["\\]/g, '\\$&')}"`
