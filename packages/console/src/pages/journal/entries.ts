// What the journal's page knows about entries: their kinds in families, who did them, and the search as the address has it.

import type { OperationInput, OperationOutput } from '../../api/client.ts'
import { count, many, when } from '../../format.ts'

export type Entry = OperationOutput<'listEvents'>['items'][number]
type Search = OperationInput<'listEvents'>

/** A page that only some entries of are wanted looks through as many. */
const LIMIT = 200
const LIMIT_SEARCHED = 1_000
/** The server looks at as many, if each means a look at a task. */
const LIMIT_QUERIED = 100

/** The kinds in families, as operators ask for them. */
export const KINDS = [
  { value: '', word: 'Everything' },
  { value: 'operation.*', word: 'Changes' },
  { value: 'execution.*', word: 'Attempts' },
  { value: 'task.*,redrive.*,message.*', word: 'Tasks and redrives' },
  { value: 'group.*,work_order.*', word: 'Causes and work orders' },
  { value: 'lanes.*,breaker.*', word: 'Holds and breakers' },
  { value: 'worker.*', word: 'Workers' },
  { value: 'job.*', word: 'Jobs' },
  { value: 'ledger.*,store.*,tasks.removed', word: 'Store' },
  { value: 'note', word: 'Settings and notes' },
] as const

export const RANGES = [
  { value: '1h', word: '1 h' },
  { value: '24h', word: '24 h' },
  { value: '7d', word: '7 d' },
  { value: 'all', word: 'all' },
] as const
export const RANGE = '24h'

/** What the address asks for. An end in time is read forwards from its beginning: back from now it could be a long way. */
export function searchOf(params: Readonly<Record<string, string>>): Search {
  const { type, actor, task, q, until, since = RANGE } = params
  const isSearched = type !== undefined || actor !== undefined
  return {
    limit: q !== undefined ? LIMIT_QUERIED : isSearched ? LIMIT_SEARCHED : LIMIT,
    ...(since === 'all' ? {} : { since }),
    ...(until === undefined ? { newest: true } : { until }),
    ...(type === undefined ? {} : { type }),
    ...(actor === undefined ? {} : { actor }),
    ...(task === undefined ? {} : { task }),
    ...(q === undefined ? {} : { q }),
  }
}

export const kindOf = (type: string): string => type.replace(/^reprise\./, '')

/** What an entry is about, as its details name it: what was done comes before what it was done to. */
const SUBJECTS = ['operation', 'runbook', 'action', 'job'] as const

/** What, and why: an entry's reason may be only what somebody gave as one. */
export function saysOf({ reason, details }: Entry['data']): string {
  const names = SUBJECTS.flatMap((name) => {
    const value = details[name]
    return typeof value === 'string' && !reason.includes(value) ? [value] : []
  })
  return `${names
    .slice(0, 1)
    .map((name) => `${name}: `)
    .join('')}${reason}`
}

/** People and their tokens, not services and workers: these have no colon in their name, or one of these before it. */
const isPerson = (actor: string): boolean => actor.includes(':') && !/^(?:worker|file|address):/.test(actor)

export function sentenceOf(
  entries: readonly Entry[],
  hasMore: boolean,
  { since, until }: Pick<Search, 'since' | 'until'>,
  now: number,
): string {
  const people = entries.filter(({ data: { actor } }) => isPerson(actor))
  const actors = new Set(people.map(({ data: { actor } }) => actor)).size
  const least = hasMore ? '≥ ' : ''
  const said = `${least}${many(entries.length, 'entry', 'entries')}${rangeOf(since, until, now)}`
  return people.length === 0
    ? `${said}; ${hasMore ? 'none of the newest' : 'none'} by an operator.`
    : `${said}; ${least}${count(people.length)} by ${many(actors, 'operator')}.`
}

function rangeOf(since: string | undefined, until: string | undefined, now: number): string {
  const end = until === undefined ? '' : ` until ${momentOf(until, now)}`
  if (since === undefined) return end
  if (/^\d+[smhd]$/.test(since)) return ` in the last ${since.replace(/\d+/, '$& ')}${end}`
  return ` since ${momentOf(since, now)}${end}`
}

function momentOf(text: string, now: number): string {
  const at = Date.parse(text)
  return Number.isNaN(at) ? text : when(at, now)
}
