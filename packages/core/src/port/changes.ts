// What operators and retention ask for: who did it and why, which tasks, and what came of it.

import type { Failure } from '../failure/failure.ts'
import type { Execution } from '../model/execution.ts'
import type { ActionName, PoolName, TaskId, TenantId } from '../model/ids.ts'
import type { TaskStatus } from '../model/task.ts'

/** Whose a hold or a limit is: the platform's, who answer for the whole store, or a tenant's own. */
export type Rank = 'platform' | 'tenant'

/** Who did it and why: on every operator action, and in its journal entry. */
export interface By {
  readonly actor: string
  readonly reason: string
  /** The platform's if missing. What the platform holds or limits, a tenant's caller can neither lift nor change. */
  readonly rank?: Rank
}

/** One lane, or all lanes that agree with what is given. */
export interface Scope {
  readonly pool?: PoolName
  readonly action?: ActionName
  readonly tenant?: TenantId
}

/** Which tasks a change is about: these ids, or all that agree with what is given. */
export type TaskSelector =
  | {
      readonly ids: readonly TaskId[]
      /** One for each id: only tasks that are still in this generation. A change that is made again then does no harm. */
      readonly generations?: readonly number[]
    }
  | (Scope & { readonly fingerprint?: Failure['fingerprint'] })

/** What an operator can do to many tasks. Tasks in another status than these are passed over. */
export type ChangeKind =
  /** Dead letters go back to work in a new generation with a fresh budget. */
  | 'redrive'
  /** Dead letters are given up for good. */
  | 'discard'
  /** Queued, waiting and running tasks end; the lease of a running attempt ends at once. */
  | 'cancel'
  /** Waiting tasks become due now. */
  | 'promote'
  /**
   * A redrive whose task has not started since, or a discard, is taken back: the task is dead again, of the same cause and since
   * the same moment. Names its tasks by ids.
   */
  | 'revert'

export interface ChangeRequest {
  readonly kind: ChangeKind
  readonly select: TaskSelector
  readonly by: By
  readonly limit?: number
  /** From the result before, to go on where it stopped. */
  readonly cursor?: string
}

export interface ChangeResult {
  readonly changed: readonly TaskId[]
  /** Where to go on; null when nothing is left. */
  readonly next: string | null
}

export interface RetryRequest {
  readonly by: By
  readonly maxRetries: number
  /** Its further attempts are judged by the policy of this name. As before if missing. */
  readonly policy?: string
}

/** An operator's retry of one failed task, within its budget (A8, A9). */
export type RetryResult =
  | { readonly outcome: 'queued'; readonly attempt: number }
  | { readonly outcome: 'not_found' }
  /** The latest execution is not `failed`; `status` is what it is, or the task's own if it has none. */
  | { readonly outcome: 'wrong_status'; readonly status: Execution['status'] | TaskStatus }
  | { readonly outcome: 'exhausted'; readonly budget: number }

/** How long ended tasks are kept. What is not named is kept for ever; dead letters always are. */
export interface RetentionRules {
  readonly succeededMs?: number
  readonly cancelledMs?: number
  readonly discardedMs?: number
  readonly journalMs?: number
  readonly seriesMs?: number
}

export interface RetainResult {
  readonly tasksRemoved: number
  readonly entriesRemoved: number
  /** Where to go on; null when one whole pass is done. */
  readonly next: string | null
}
