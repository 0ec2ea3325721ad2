// The past of a task that comes from elsewhere: another store, another system, a file. It is taken in with the attempts that it had
// there, as a dead letter or as a task that goes on (B13). What that means for what it has spent is decided here, once for all
// engines.

import type { Failure } from '../failure/failure.ts'
import type { DeadReason, Decision } from '../policy/decide.ts'
import type { By } from '../port/changes.ts'
import { InvalidError } from './errors.ts'
import type { WorkerBuild } from './execution.ts'
import type { TaskId, WorkerId } from './ids.ts'
import type { WaitReason } from './task.ts'

/** One attempt that has ended elsewhere, without success. */
export interface PastAttempt {
  /** They count up by one. */
  readonly attempt: number
  readonly generation: number
  readonly status: 'failed' | 'lost'
  readonly worker: WorkerId | null
  readonly build: WorkerBuild | null
  readonly dispatchedAt: number
  readonly resolvedAt: number
  readonly retryReason: WaitReason | null
  readonly failure: Failure
  readonly decision: Decision
}

export interface TaskPast {
  /** Who takes it in, and why: for the journal. */
  readonly by: By
  /** That it is in now. */
  readonly generation: number
  /** Oldest first. */
  readonly attempts: readonly PastAttempt[]
  /** Its last attempt has ended it: it is a dead letter. Otherwise it goes on, with what it has left. */
  readonly isDead: boolean
}

/** A longer past is cut by the one that brings it. */
export const PAST_ATTEMPTS_MAX = 100

/** Throws if no task could have had such a past. */
export function checkPast(id: TaskId, past: TaskPast | undefined): void {
  if (past === undefined) return
  const { attempts, generation, isDead } = past
  const refuse = (why: string): never => {
    throw new InvalidError(`The past of task '${id}' can't be: ${why}`)
  }
  if (attempts.length > PAST_ATTEMPTS_MAX)
    refuse(`it has ${attempts.length} attempts, and ${PAST_ATTEMPTS_MAX} can be kept.`)
  if (!isCount(generation)) refuse(`its generation is a whole number from 1, not ${generation}.`)
  let before: PastAttempt | undefined
  for (const one of attempts) {
    const { attempt, dispatchedAt, resolvedAt } = one
    if (!isCount(attempt) || !isCount(one.generation)) refuse('attempts and generations are whole numbers from 1.')
    if (before !== undefined && attempt !== before.attempt + 1) refuse(`attempt ${before.attempt + 1} is missing.`)
    if (one.generation < (before?.generation ?? 1) || one.generation > generation) {
      refuse(`attempt ${attempt} is of generation ${one.generation}, which is out of order.`)
    }
    if (!Number.isSafeInteger(dispatchedAt) || !Number.isSafeInteger(resolvedAt) || dispatchedAt < 0) {
      refuse(`the times of attempt ${attempt} are whole milliseconds.`)
    }
    if (resolvedAt < dispatchedAt) refuse(`attempt ${attempt} ended before it began.`)
    before = one
  }
  if (isDead && (before?.decision.kind !== 'dead' || before.generation !== generation)) {
    refuse('the last attempt of a dead letter is of its generation, and ended it.')
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 1

/** What a task has spent that has this past, and where it stands. */
export interface PastStanding {
  readonly generation: number
  readonly attempt: number
  /** The last attempt of earlier generations. */
  readonly attemptsBefore: number
  readonly failures: number
  readonly losses: number
  readonly parks: number
  /** Why there is a next attempt; null for a first one, and for a dead letter. */
  readonly retryReason: WaitReason | null
  /** Its last death, whether or not it has come back since; null if it never died. A store knows the group of that cause. */
  readonly died: PastAttempt | null
  /** Null if it goes on. */
  readonly dead: { readonly at: number; readonly reason: DeadReason; readonly failure: Failure } | null
}

export function standingAfter({ generation, attempts, isDead }: TaskPast): PastStanding {
  const own = attempts.filter((one) => one.generation === generation)
  const last = attempts.at(-1)
  const parks = own.filter(({ decision }) => decision.kind === 'park').length
  const losses = own.filter(({ status }) => status === 'lost').length
  const isEnd = isDead && last?.decision.kind === 'dead'
  return {
    generation,
    attempt: last?.attempt ?? 0,
    attemptsBefore: generation === 1 ? 0 : (attempts.findLast((one) => one.generation < generation)?.attempt ?? 0),
    failures: own.length - parks - losses,
    losses,
    parks,
    retryReason: isEnd ? null : retryReasonOf(own.at(-1), generation),
    died: attempts.findLast(({ decision }) => decision.kind === 'dead') ?? null,
    dead: isEnd ? { at: last.resolvedAt, reason: last.decision.reason, failure: last.failure } : null,
  }
}

/** Who has died, or been redriven, and goes on: somebody wanted it. */
function retryReasonOf(last: PastAttempt | undefined, generation: number): WaitReason | null {
  if (last === undefined) return generation > 1 ? 'manual' : null
  return last.decision.kind === 'dead' ? 'manual' : last.decision.reason
}

/** What the journal says about it. `status` is where it stands then. A dead letter is told of as one that died here is. */
export function importedData(
  { attempts }: TaskPast,
  action: string,
  status: 'dead' | 'queued' | 'waiting',
): Readonly<Record<string, string | number>> {
  const said = { action, status, attempts: attempts.length }
  const last = attempts.at(-1)
  if (status !== 'dead' || last === undefined) return said
  return { ...said, decision: 'dead', fingerprint: last.failure.fingerprint }
}
