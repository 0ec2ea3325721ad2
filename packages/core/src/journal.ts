// The journal: the append-only record of everything unusual and everything an operator did. An entry is written in the
// same step as the transition it tells of, so neither exists without the other. Readers keep their own cursor.

import type { TaskId } from './ids.ts'
import type { PageRequest } from './queries.ts'

export const JOURNAL_TYPES = [
  'execution.failed',
  'execution.lost',
  'execution.expired',
  'execution.released',
  'execution.superseded',
  'task.retried',
  'task.redriven',
  'task.discarded',
  'task.cancelled',
  'task.promoted',
  'lanes.paused',
  'lanes.resumed',
  'lanes.limited',
  'breaker.opened',
  'breaker.half_open',
  'breaker.ramping',
  'breaker.closed',
  'worker.replaced',
  'message.dropped',
  'tasks.removed',
  'note',
] as const

export type JournalType = (typeof JOURNAL_TYPES)[number]

export interface JournalEntryInput {
  readonly type: JournalType
  readonly taskId: TaskId | null
  readonly attempt: number | null
  /** A person, a worker, or a service: `operator:ann`, `worker:w1`, `sweep`. */
  readonly actor: string
  readonly reason: string
  readonly data: Readonly<Record<string, string | number | boolean | null>>
}

export interface JournalEntry extends JournalEntryInput {
  /** Unique, for readers that must not act twice on one entry. Opaque: the order is that of reading. */
  readonly id: string
  readonly at: number
}

export interface JournalQuery extends PageRequest {
  readonly taskId?: TaskId
}

export interface JournalPage {
  readonly entries: readonly JournalEntry[]
  /** Read on from here: always set, also when nothing follows yet. */
  readonly cursor: string
}

export interface Journal {
  append(entries: readonly JournalEntryInput[]): Promise<void>
  /** Oldest first, after the cursor. */
  read(query?: JournalQuery): Promise<JournalPage>
}
