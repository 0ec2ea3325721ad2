// Reading and appending the journal. Entries about transitions are written by Transaction.journal, in the same step.

import {
  CLOCK_STEP_BACK_MS,
  type Clock,
  type Journal,
  type JournalEntry,
  type JournalPage,
  type JournalQuery,
} from '@reprise/core'
import { checkBatch, journalMoment, pageCursor, pageLimit } from '@reprise/core/engine'
import type { Database } from './database.ts'
import type { GroupCommit } from './group-commit.ts'

interface JournalRow {
  readonly id: number
  readonly at: number
  readonly type: JournalEntry['type']
  readonly task: JournalEntry['taskId']
  readonly attempt: number | null
  readonly actor: string
  readonly reason: string
  readonly data: string
}

export function journalOf(
  db: Database,
  commits: GroupCommit,
  read: <T>(look: () => T) => Promise<T>,
  clock: Clock,
): Journal {
  return {
    append: (entries) =>
      commits.write((transaction) => {
        checkBatch(entries.length)
        for (const entry of entries) transaction.journal(entry)
      }),
    read: (query) => read(() => (query?.newest ? readBack(db, query) : readJournal(db, query))),
    from: (at) => read(() => String(placeBefore(db, journalMoment(at), clock.now()))),
  }
}

function readJournal(db: Database, query: JournalQuery | undefined): JournalPage {
  const limit = pageLimit(query)
  const after = pageCursor(query) ?? 0
  const rows =
    query?.taskId === undefined
      ? db.all<JournalRow>('readJournal', after, limit)
      : db.all<JournalRow>('readJournalOfTask', query.taskId, after, limit)
  return { entries: rows.map(entryOf), cursor: String(rows.at(-1)?.id ?? after) }
}

function readBack(db: Database, query: JournalQuery): JournalPage {
  const limit = pageLimit(query)
  const place = pageCursor(query)
  const before = place ?? Number.MAX_SAFE_INTEGER
  const rows =
    query.taskId === undefined
      ? db.all<JournalRow>('readJournalBack', before, limit)
      : db.all<JournalRow>('readJournalOfTaskBack', query.taskId, before, limit)
  return { entries: rows.map(entryOf), cursor: String(rows.at(-1)?.id ?? place ?? 0) }
}

/**
 * The id after which everything was written that has this time or a later one. Ids and times go up together, so the interval is
 * halved. Ids may be missing where retention was: each look takes the next one that is there.
 */
function placeBefore(db: Database, moment: number, now: number): number {
  const { first, last } = db.get<{ first: number; last: number }>('journalEnds') ?? { first: 0, last: 0 }
  if (moment > now || first === 0) return last
  // The entry before `low` is older than this, so no earlier one has the moment's time unless the clock went back by more.
  const wanted = moment - CLOCK_STEP_BACK_MS
  let low = first
  let high = last + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const entry = db.get<{ id: number; at: number }>('nextOfJournal', middle)
    if (entry === undefined || entry.at >= wanted) high = middle
    else low = entry.id + 1
  }
  return low - 1
}

function entryOf({ id, task, data, ...row }: JournalRow): JournalEntry {
  return { ...row, id: String(id), taskId: task, data: JSON.parse(data) as JournalEntry['data'] }
}
