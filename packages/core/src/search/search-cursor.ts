// The place that a search has come to, as a text for callers to bring back: opaque to them, and good for the same question only.
// A made-up cursor finds nothing that the question would not show anyway: filter and tenants are tried on every task.

import { digest64 } from '../failure/digest.ts'
import { InvalidError } from '../model/errors.ts'
import type { TenantId } from '../model/ids.ts'
import { formatQuery, type TaskFilter } from './query-language.ts'

export interface SearchPlace {
  /** Of tasks that were looked up by id: how many were shown. */
  readonly passed: number
  /** The earliest acceptance among what was taken so far; null if nothing was. */
  readonly oldestAt: number | null
  readonly streams: Readonly<Record<string, StreamPlace>>
}

export interface StreamPlace {
  /** The engine's own; null for its first page. */
  readonly cursor: string | null
  /** The task of that page that comes next, by when it was accepted and the digest of its id; null if none is known. */
  readonly head: { readonly at: number; readonly mark: string } | null
}

/** The head of a stream that came to its end: no task that was in it is news. */
export const ENDED = { at: -1, mark: '' } as const

const START: SearchPlace = { passed: 0, oldestAt: null, streams: {} }
const CURSOR_LENGTH_MAX = 20_000

export function writeCursor(place: SearchPlace, filter: TaskFilter, tenants: readonly TenantId[] | null): string {
  const streams = Object.entries(place.streams).map(([key, { cursor, head }]) =>
    head === null ? [key, cursor] : [key, cursor, head.at, head.mark],
  )
  return encoded(JSON.stringify([questionOf(filter, tenants), place.passed, place.oldestAt, streams]))
}

export function readCursor(
  cursor: string | undefined,
  filter: TaskFilter,
  tenants: readonly TenantId[] | null,
): SearchPlace {
  if (cursor === undefined) return START
  const [question, ...place] = partsOf(cursor)
  if (question !== questionOf(filter, tenants)) {
    throw new InvalidError(
      'The cursor belongs to another query, or was not given out by a search. Begin without a cursor.',
    )
  }
  return placeOf(place)
}

/** Tenants are part of the question: of two people who may see different ones, each has their own pages. */
const questionOf = (filter: TaskFilter, tenants: readonly TenantId[] | null): string =>
  digest64(`${formatQuery(filter)}\u0000${tenants === null ? '*' : JSON.stringify([...new Set(tenants)].sort())}`)

function partsOf(cursor: string): readonly unknown[] {
  if (typeof cursor !== 'string' || cursor.length > CURSOR_LENGTH_MAX) throw notOurs()
  try {
    const parts: unknown = JSON.parse(decoded(cursor))
    return Array.isArray(parts) ? parts : []
  } catch {
    throw notOurs()
  }
}

function placeOf([passed, oldestAt, streams]: readonly unknown[]): SearchPlace {
  if (!isWhole(passed) || !(oldestAt === null || isWhole(oldestAt)) || !Array.isArray(streams)) throw notOurs()
  return { passed, oldestAt, streams: Object.fromEntries(streams.map(streamOf)) }
}

function streamOf(stream: unknown): readonly [string, StreamPlace] {
  if (!Array.isArray(stream)) throw notOurs()
  const [key, cursor, at, mark] = stream as readonly unknown[]
  if (typeof key !== 'string' || !(cursor === null || typeof cursor === 'string')) throw notOurs()
  if (at === undefined) return [key, { cursor, head: null }]
  if (!(at === ENDED.at || isWhole(at)) || typeof mark !== 'string') throw notOurs()
  return [key, { cursor, head: { at, mark } }]
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const notOurs = (): InvalidError => new InvalidError('The cursor is not one that a search gave out.')

// Names may hold any character, and base64 knows bytes only: JSON has escapes for the rest. The alphabet is that of URLs.
const encoded = (text: string): string =>
  btoa(text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
const decoded = (text: string): string => atob(text.replaceAll('-', '+').replaceAll('_', '/'))
