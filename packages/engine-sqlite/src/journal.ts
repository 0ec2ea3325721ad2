// Reading and appending the journal. Entries about transitions are written by Transaction.journal, in the same step.

import {
  checkBatch,
  type Journal,
  type JournalEntry,
  type JournalPage,
  type JournalQuery,
  pageCursor,
  pageLimit,
} from '@reprise/core'
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

export function journalOf(db: Database, commits: GroupCommit, read: <T>(look: () => T) => Promise<T>): Journal {
  return {
    append: (entries) =>
      commits.write((transaction) => {
        checkBatch(entries.length)
        for (const entry of entries) transaction.journal(entry)
      }),
    read: (query) => read(() => readJournal(db, query)),
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

function entryOf({ id, task, data, ...row }: JournalRow): JournalEntry {
  return { ...row, id: String(id), taskId: task, data: JSON.parse(data) as JournalEntry['data'] }
}
