// An execution: one attempt of a task, numbered from 1. Its record is durable and is kept until it is explicitly
// deleted (A1). It is `running`, then exactly one of the four ends, for ever.

import type { Failure } from '../failure/failure.ts'
import type { Decision } from '../policy/decide.ts'
import { NO_POLICIES, type PolicyBook } from '../policy/policy.ts'
import { retriesInForce } from '../policy/policy-match.ts'
import type { Observing } from '../port/engine.ts'
import type { LeaseToken, TaskId, WorkerId } from './ids.ts'
import type { Snapshot, WaitReason } from './task.ts'

/** What a worker said of itself when it registered, as the attempts that it ran keep it. */
export interface WorkerBuild {
  readonly version: string
  readonly host: string
  readonly runtimes: readonly string[]
}

/** The worker of a task's latest attempt. Version and host are null where its execution has no build. */
export interface LastWorker {
  readonly worker: WorkerId
  readonly version: string | null
  readonly host: string | null
}

interface ExecutionBase {
  readonly taskId: TaskId
  readonly attempt: number
  readonly generation: number
  /** Null for an attempt that ended in the queue, before any worker had it. */
  readonly worker: WorkerId | null
  /** Null while the attempt is with a dispatcher or a launcher, for a worker that was not registered, and in old records. */
  readonly build: WorkerBuild | null
  readonly token: LeaseToken
  readonly dispatchedAt: number
  /** Why there is this attempt: null for a first one, else the reason of the retry (C1). */
  readonly retryReason: WaitReason | null
  readonly taskSnapshot: Snapshot
}

export type Execution = ExecutionBase &
  (
    | {
        readonly status: 'running'
        readonly resolvedAt: null
        readonly errorCode: null
        readonly errorMessage: null
        readonly failure: null
        readonly decision: null
      }
    | {
        readonly status: 'succeeded' | 'cancelled'
        readonly resolvedAt: number
        readonly errorCode: null
        readonly errorMessage: null
        readonly failure: null
        readonly decision: null
      }
    | {
        readonly status: 'failed' | 'lost'
        readonly resolvedAt: number
        readonly errorCode: string
        readonly errorMessage: string
        readonly failure: Failure
        readonly decision: Decision
      }
  )

/** The execution with the highest attempt; null if there is none (A5). */
export async function latestForTask(
  engine: Pick<Observing, 'task' | 'execution'>,
  id: TaskId,
): Promise<Execution | null> {
  const task = await engine.task(id, { light: true })
  return task === null ? null : engine.execution(id, task.attempt)
}

/**
 * The chain of C1: how this attempt came to be, where the chain starts, and how long the policies in force, or the one that an operator named
 * for the task, let it get.
 */
export function retryChain(
  execution: Execution,
  book: PolicyBook = NO_POLICIES,
  named?: string,
): {
  readonly retryCount: number
  readonly maxRetries: number
  readonly retryReason: WaitReason | null
  readonly originalExecution: { readonly taskId: TaskId; readonly attempt: 1 }
} {
  return {
    retryCount: execution.attempt - 1,
    maxRetries: retriesInForce(book, execution.taskSnapshot, execution.failure, named),
    retryReason: execution.retryReason,
    originalExecution: { taskId: execution.taskId, attempt: 1 },
  }
}
