// The journal from outside: appending entries, and reading on from a cursor. Entries about transitions are written by the
// scripts that make them.

import {
  checkBatch,
  type Journal,
  type JournalEntry,
  type JournalEntryInput,
  type JournalPage,
  type JournalQuery,
  type JournalType,
  pageCursor,
  pageLimit,
  type TaskId,
} from '@reprise/core'
import type { DrawRequestId } from './claim.ts'
import type { Reply } from './link/link.ts'
import { asList, asTexts, type Partition } from './partition.ts'
import { journalAppendScript, journalReadScript } from './scripts.generated.ts'

export function journalOf(partition: Partition, drawRequestId: DrawRequestId): Journal {
  return {
    async append(entries) {
      checkBatch(entries.length)
      if (entries.length === 0) return
      await partition.run(journalAppendScript, [drawRequestId(), ...entries.flatMap(entryArguments)])
    },
    read: (query) => readJournal(partition, query),
  }
}

function entryArguments({ type, taskId, attempt, actor, reason, data }: JournalEntryInput): string[] {
  return [type, taskId ?? '', attempt === null ? '' : String(attempt), actor, reason, JSON.stringify(data)]
}

export async function readJournal(partition: Partition, query: JournalQuery = {}): Promise<JournalPage> {
  const limit = pageLimit(query)
  const after = String(pageCursor(query) ?? 0)
  const reply =
    query.taskId === undefined
      ? await partition.command('XRANGE', partition.key('journal'), `(${after}-0`, '+', 'COUNT', String(limit))
      : await partition.run(journalReadScript, [query.taskId, after, String(limit)])
  const entries = asList(reply).map(entryOf)
  return { entries, cursor: entries.at(-1)?.id ?? after }
}

const TIME_SUFFIX = '-0'

function entryOf(reply: Reply): JournalEntry {
  const [id, fields] = asList(reply)
  const [, at, , type, , task, , attempt, , actor = '', , reason = '', , data = '{}'] = asTexts(fields)
  return {
    id: String(id).slice(0, -TIME_SUFFIX.length),
    at: Number(at),
    type: type as JournalType,
    taskId: task === '' ? null : (task as TaskId),
    attempt: attempt === '' ? null : Number(attempt),
    actor,
    reason,
    data: JSON.parse(data) as JournalEntry['data'],
  }
}
