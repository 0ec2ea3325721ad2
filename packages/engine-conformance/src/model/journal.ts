// The journal as a plain list. note() is how every other part of the model writes an entry in its own step.

import type { JournalEntryInput, JournalPage, JournalQuery } from '@reprise/core'
import { journalMoment, pageCursor, pageLimit } from '@reprise/core/engine'
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
  const place = pageCursor(query)
  const entries = state.journal
    .filter(({ taskId }) => query.taskId === undefined || taskId === query.taskId)
    .filter(({ id }) => place === null || (query.newest ? Number(id) < place : Number(id) > place))
  if (query.newest) entries.reverse()
  const page = entries.slice(0, limit)
  return { entries: page, cursor: page.at(-1)?.id ?? String(place ?? 0) }
}

export function from(state: State, at: number): string {
  const moment = journalMoment(at)
  const first = moment > state.now ? undefined : state.journal.find((entry) => entry.at >= moment)
  return String(first === undefined ? state.journalIdLast : Number(first.id) - 1)
}

/** Counts one event of a task's lane in the minute of now. */
export function tally(state: State, task: TaskRecord, kind: SeriesKind): void {
  state.events.push({ lane: task.lane, minute: Math.floor(state.now / 60_000) * 60_000, kind })
}
