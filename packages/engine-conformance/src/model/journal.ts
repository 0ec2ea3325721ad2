// The journal as a plain list. note() is how every other part of the model writes an entry in its own step.

import { type JournalEntryInput, type JournalPage, type JournalQuery, pageCursor, pageLimit } from '@reprise/core'
import { checkBatch } from './checks.ts'
import type { SeriesKind, State, TaskRecord } from './state.ts'

export function note(state: State, input: JournalEntryInput): void {
  const { type, taskId, attempt, actor, reason, data } = input
  state.journal.push({
    id: String(++state.journalIdLast),
    at: state.now,
    type,
    taskId,
    attempt,
    actor,
    reason,
    data: { ...data },
  })
}

export function append(state: State, inputs: readonly JournalEntryInput[]): void {
  checkBatch(inputs, 'journal entries')
  for (const input of inputs) note(state, input)
}

export function read(state: State, query: JournalQuery = {}): JournalPage {
  const limit = pageLimit(query)
  const after = pageCursor(query) ?? 0
  const entries = state.journal
    .filter((entry) => Number(entry.id) > after && (query.taskId === undefined || entry.taskId === query.taskId))
    .slice(0, limit)
  return { entries, cursor: entries.at(-1)?.id ?? String(after) }
}

/** Counts one event of a task's lane in the minute of now. */
export function tally(state: State, task: TaskRecord, kind: SeriesKind): void {
  state.events.push({ lane: task.lane, minute: Math.floor(state.now / 60_000) * 60_000, kind })
}
