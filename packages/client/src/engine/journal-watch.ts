// Follows the journal of an engine: reads on from a cursor, and looks again on a beat while nothing is new. It holds one page,
// however slow its reader is.

import {
  backoffMs,
  type Clock,
  type Engine,
  eventOf,
  isRepriseError,
  type JournalPage,
  sleep,
  typeFilter,
} from '@reprise/core'
import type { LiveEvent, WatchRequest } from '../backend.ts'

const POLL_MS = 250
const PAGE_ENTRIES = 100
const ERROR_BACKOFF = { kind: 'decorrelated', baseMs: POLL_MS, maxMs: 5_000 } as const

export async function* watchJournal(engine: Engine, clock: Clock, request: WatchRequest): AsyncGenerator<LiveEvent> {
  const { taskId } = request
  const signal = request.signal ?? undefined
  const isOver = (): boolean => signal?.aborted === true
  const isWanted = typeFilter(request.types)
  let cursor = request.cursor ?? (await engine.journal.from(Number.POSITIVE_INFINITY))
  let errorsInRow = 0
  while (!isOver()) {
    let page: JournalPage
    try {
      page = await engine.journal.read({ cursor, limit: PAGE_ENTRIES })
      errorsInRow = 0
    } catch (error) {
      if (!isPassing(error)) throw error
      await sleep(clock, backoffMs(ERROR_BACKOFF, errorsInRow++, 0.5), signal, { hold: true })
      continue
    }
    for (const [index, entry] of page.entries.entries()) {
      // Only the end of a page is a place to come back to; within it that is the end of the page before.
      const place = index === page.entries.length - 1 ? page.cursor : cursor
      if (!isWanted(entry.type) || (taskId !== null && entry.taskId !== taskId)) continue
      yield { ...eventOf(entry), cursor: place }
      if (isOver()) return
    }
    cursor = page.cursor
    if (page.entries.length === 0) await sleep(clock, POLL_MS, signal, { hold: true })
  }
}

/** A store that is away comes back; a closed one, or a cursor that is not its own, does not. */
const isPassing = (error: unknown): boolean =>
  isRepriseError(error) && error.status >= 500 && error.code !== 'REPRISE_STORE_CLOSED'
