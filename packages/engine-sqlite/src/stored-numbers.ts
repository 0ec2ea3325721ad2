// What the store keeps as a number. The SQL files name these constants too, as $DEAD: the compiler puts the number there. Rows
// that are written stay: none of these may change.

import type { LeaseStage, TaskStatus } from '@reprise/core'
import { LIGHT_BYTES_MAX, PRIORITY_MAX } from '@reprise/core/engine'

/** tasks.status. A live task is queued, running or succeeded, by the row it has beside this one. */
export const LIVE = 0
export const WAITING = 1
export const DEAD = 4
export const DISCARDED = 5
export const CANCELLED = 6

/** Where a live task stands, among the numbers above: in answers only, no row says so. */
export const RUNNING = 2
export const SUCCEEDED = 3
export const RETIRED = 7

/** A task's status by its number in an answer. */
export const TASK_STATUS = [
  'queued',
  'waiting',
  'running',
  'succeeded',
  'dead',
  'discarded',
  'cancelled',
] as const satisfies TaskStatus[]

/** Statuses that have an index of their own: those above SUCCEEDED. */
export const SET_ASIDE_NUMBER = { dead: DEAD, discarded: DISCARDED, cancelled: CANCELLED } as const

/** ready.place of an entry that no claim finds. The others have a place for each priority. */
export const RETIRED_PLACE = 100
const PLACES: number = PRIORITY_MAX + 1

/** leases.stage, by number. */
export const LEASE_STAGE = ['run', 'dispatch', 'inbox', 'launch'] as const satisfies LeaseStage[]
export const STAGE_NUMBER = { run: 0, dispatch: 1, inbox: 2, launch: 3 } as const satisfies Record<LeaseStage, number>

/** executions.status, by number. */
export const EXECUTION_STATUS = ['running', 'succeeded', 'failed', 'lost', 'cancelled'] as const
export const EXECUTION_NUMBER = { succeeded: 1, failed: 2, lost: 3, cancelled: 4 } as const

/** What the SQL files may name. */
export const SQL_CONSTANTS: Readonly<Record<string, number>> = {
  LIVE,
  WAITING,
  RUNNING,
  SUCCEEDED,
  DEAD,
  RETIRED,
  RETIRED_PLACE,
  PLACES,
  PRIORITY_MAX,
  LIGHT_BYTES_MAX,
  STAGE_RUN: STAGE_NUMBER.run,
  STAGE_INBOX: STAGE_NUMBER.inbox,
  STAGE_LAUNCH: STAGE_NUMBER.launch,
}
