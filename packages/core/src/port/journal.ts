// The journal: the append-only record of everything unusual and everything an operator did. An entry is written in the
// same step as the transition it tells of, so neither exists without the other. Readers keep their own cursor.

import { InvalidError } from '../model/errors.ts'
import type { TaskId } from '../model/ids.ts'
import type { PageRequest } from './queries.ts'

export const JOURNAL_TYPES = [
  'execution.failed',
  'execution.lost',
  'execution.expired',
  'execution.released',
  'execution.superseded',
  'task.succeeded',
  'task.recovered',
  'task.dead',
  'task.retried',
  'task.redriven',
  'task.discarded',
  'task.cancelled',
  'task.promoted',
  'task.reverted',
  'task.imported',
  'redrive.changed',
  'lanes.paused',
  'lanes.resumed',
  'lanes.limited',
  'breaker.opened',
  'breaker.half_open',
  'breaker.ramping',
  'breaker.closed',
  'worker.joined',
  'worker.left',
  'worker.replaced',
  'worker.health',
  'message.dropped',
  'message.kept',
  'message.resent',
  'message.discarded',
  'tasks.removed',
  'store.repaired',
  'store.set_back',
  'ledger.difference',
  'ledger.settled',
  'group.opened',
  'group.acknowledged',
  'group.resolved',
  'group.ignored',
  'group.reopened',
  'group.merged',
  'group.split',
  'group.reminded',
  'work_order.opened',
  'work_order.taken',
  'work_order.noted',
  'work_order.reopened',
  'work_order.closed',
  'work_order.pushed',
  'work_order.reported',
  'alert.fired',
  'alert.acknowledged',
  'alert.resolved',
  'alert.told',
  'alert.silenced',
  'alert.changed',
  'tenant.notified',
  'job.started',
  'job.moved',
  'job.resumed',
  'job.retried',
  'job.cancelled',
  'operation.performed',
  'runbook.published',
  'runbook.started',
  'runbook.step',
  'runbook.asked',
  'runbook.answered',
  'runbook.ended',
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
  /** Newest first, and from page to page further back. Its cursors are for such pages only. */
  readonly newest?: true
}

export interface JournalPage {
  readonly entries: readonly JournalEntry[]
  /** Read on from here: always set, also when nothing follows yet. */
  readonly cursor: string
}

export interface Journal {
  append(entries: readonly JournalEntryInput[]): Promise<void>
  /** Oldest first, after the cursor; with `newest` newest first, before the cursor. */
  read(query?: JournalQuery): Promise<JournalPage>
  /**
   * A cursor from which `read` gives everything written at or after this moment of the store's clock. Entries of the minute
   * before may come too. A moment that is yet to come gives the end of the journal as it is now; so does `Infinity`.
   */
  from(at: number): Promise<string>
}

/**
 * Entries stand in the order of writing, and their times go up with it, but for a clock that is set back. A step of up to this
 * much hides nothing from who begins at a moment: engines look for a place so much earlier.
 */
export const CLOCK_STEP_BACK_MS = 60_000

/** The moment in whole milliseconds; refuses what is none. */
export function journalMoment(at: number): number {
  if (typeof at !== 'number' || Number.isNaN(at)) {
    throw new InvalidError(`A moment of the journal is a number of milliseconds since 1970, not ${String(at)}.`)
  }
  return Math.max(0, Math.min(Math.floor(at), Number.MAX_SAFE_INTEGER))
}
