// The journal from outside: appending entries, and reading on from a cursor. Entries about transitions are written by the
// scripts that make them.

import {
  CLOCK_STEP_BACK_MS,
  type Journal,
  type JournalEntry,
  type JournalEntryInput,
  type JournalPage,
  type JournalQuery,
  type JournalType,
  type TaskId,
} from '@reprise/core'
import { checkBatch, journalMoment, pageCursor, pageLimit } from '@reprise/core/engine'
import type { Reply } from './link/link.ts'
import { asList, asTexts, type Partition } from './partition.ts'
import { journalAppendScript, journalFromScript, journalReadScript } from './scripts.generated.ts'

export function journalOf(partition: Partition): Journal {
  return {
    async append(entries) {
      checkBatch(entries.length)
      if (entries.length === 0) return
      await partition.once(journalAppendScript, entries.flatMap(entryArguments))
    },
    read: (query) => readJournal(partition, query),
    from: (at) => placeBefore(partition, at),
  }
}

export async function placeBefore(partition: Partition, at: number): Promise<string> {
  return String(await partition.run(journalFromScript, [String(journalMoment(at)), String(CLOCK_STEP_BACK_MS)]))
}

function entryArguments({ type, taskId, attempt, actor, reason, data }: JournalEntryInput): string[] {
  return [type, taskId ?? '', attempt === null ? '' : String(attempt), actor, reason, JSON.stringify(data)]
}

export async function readJournal(partition: Partition, query: JournalQuery = {}): Promise<JournalPage> {
  if (query.newest) return readBack(partition, query)
  const limit = pageLimit(query)
  const after = String(pageCursor(query) ?? 0)
  const reply =
    query.taskId === undefined
      ? await partition.command('XRANGE', partition.key('journal'), `(${after}-0`, '+', 'COUNT', String(limit))
      : await partition.run(journalReadScript, [query.taskId, after, String(limit)])
  const entries = asList(reply).map(entryOf)
  return { entries, cursor: entries.at(-1)?.id ?? after }
}

async function readBack(partition: Partition, query: JournalQuery): Promise<JournalPage> {
  const limit = String(pageLimit(query))
  const place = pageCursor(query)
  const upTo = String((place ?? Number.MAX_SAFE_INTEGER) - 1)
  // Nothing has the number 0.
  if (place === 0) return { entries: [], cursor: '0' }
  const reply =
    query.taskId === undefined
      ? await partition.command('XREVRANGE', partition.key('journal'), `${upTo}-0`, '-', 'COUNT', limit)
      : await partition.run(journalReadScript, [query.taskId, upTo, limit, '1'])
  const entries = asList(reply).map(entryOf)
  return { entries, cursor: entries.at(-1)?.id ?? String(place ?? 0) }
}

/** Names and values in turn. */
const namedIn = (texts: readonly string[]): Partial<Record<string, string>> =>
  Object.fromEntries(texts.flatMap((name, at) => (at % 2 === 0 ? [[name, texts[at + 1]]] : [])))

const TIME_SUFFIX = '-0'

function entryOf(reply: Reply): JournalEntry {
  const [id, fields] = asList(reply)
  const { at, type, task = '', attempt, actor = '', reason = '', data = '{}' } = namedIn(asTexts(fields))
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
