// Policies tried on what really happened: recorded failures are judged once more, by another book. What an attempt at another time
// would have met is not known, only what others met: so each cause has a line of evidence, its failures and the recoveries from
// it. A replayed attempt meets what the latest evidence before it says; its own task's record counts before that of others.
// Breakers, quotas and how long workers were busy are left out.

import {
  type Execution,
  type Failure,
  type JudgedAttempt,
  type Judgement,
  judgeLost,
  mayStart,
  type PolicyBook,
  recordedJudge,
  type Task,
} from '@reprise/core'

/** A task that failed in the period, from its first failure there on. */
export interface RecordedTask {
  readonly task: Pick<Task, 'id' | 'action' | 'tenant' | 'acceptedAt'> & JudgedAttempt['snapshot']
  /** How it failed first. */
  readonly failure: Failure
  /** Oldest first, of one generation; the first has failed. */
  readonly attempts: readonly RecordedAttempt[]
}

export type RecordedAttempt = Pick<Execution, 'generation' | 'status' | 'dispatchedAt' | 'resolvedAt'> & {
  readonly fingerprint: string | null
}

/** When attempts failed of a cause, and when tasks that had failed of it succeeded. */
export class Evidence {
  readonly #byCause = new Map<string, { readonly at: number; readonly ok: boolean }[]>()

  add(cause: string, at: number, ok: boolean): void {
    const line = this.#byCause.get(cause) ?? []
    if (line.length === 0) this.#byCause.set(cause, line)
    line.push({ at, ok })
  }

  /** To be called once, after the last `add`. */
  sort(): this {
    for (const line of this.#byCause.values()) line.sort((one, other) => one.at - other.at)
    return this
  }

  /** What the latest evidence says about a moment; null after the last failure, if nothing recovered since. */
  at(cause: string, moment: number): boolean | null {
    const line = this.#byCause.get(cause) ?? []
    let [low, high] = [0, line.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((line[middle]?.at ?? 0) <= moment) low = middle + 1
      else high = middle
    }
    const latest = line[low - 1]
    if (latest === undefined) return false
    return latest.ok || low < line.length ? latest.ok : null
  }
}

type ReplayEnd = 'recovered' | 'dead' | 'unknown'

export interface Replayed {
  readonly end: ReplayEnd
  /** Attempts after the first failure. */
  readonly retries: number
  /** From the first failure to the success; null if it did not come to that. */
  readonly recoveredAfterMs: number | null
}

/** More attempts of one task are not followed. */
const RETRIES_MAX = 200
/** No jitter at all. */
const ROLL = 0.5

/** The judge of a cause under one book, found out once for all its tasks: matching patterns takes its time. */
export type Judges = Map<string, ReturnType<typeof recordedJudge>>

/** What would have become of a recorded task under a book. Null if nothing is recorded of it. */
export function replay(
  book: PolicyBook,
  { task, failure, attempts }: RecordedTask,
  evidence: Evidence,
  judges: Judges,
): Replayed | null {
  const [first] = attempts
  if (first === undefined || first.resolvedAt === null) return null
  const isLoss = first.status === 'lost'
  const durationMs = Math.max(0, first.resolvedAt - first.dispatchedAt)
  const beganAt = first.resolvedAt
  let spent = { failures: 0, losses: 0 }
  let now = beganAt
  for (let retries = 0; retries <= RETRIES_MAX; retries++) {
    const attempt: JudgedAttempt = {
      snapshot: task,
      generation: first.generation,
      parks: 0,
      acceptedAt: task.acceptedAt,
      ...spent,
    }
    const { decision } = judged(book, attempt, failure, isLoss, now, judges)
    if (decision.kind !== 'retry') return { end: 'dead', retries, recoveredAfterMs: null }
    spent = isLoss ? { ...spent, losses: spent.losses + 1 } : { ...spent, failures: spent.failures + 1 }
    const startsAt = now + decision.delayMs
    if (mayStart(book, { ...attempt, ...spent }, startsAt) !== null) {
      return { end: 'dead', retries, recoveredAfterMs: null }
    }
    const isGood = outcomeAt(startsAt, attempts, evidence, causeOf(task.action, failure.fingerprint))
    if (isGood === null) return { end: 'unknown', retries: retries + 1, recoveredAfterMs: null }
    if (isGood) return { end: 'recovered', retries: retries + 1, recoveredAfterMs: startsAt + durationMs - beganAt }
    now = startsAt + durationMs
  }
  return { end: 'unknown', retries: RETRIES_MAX, recoveredAfterMs: null }
}

/** Tasks of one action that failed alike. */
export const causeOf = (action: string, fingerprint: string): string => `${action} ${fingerprint}`

function judged(
  book: PolicyBook,
  attempt: JudgedAttempt,
  failure: Failure,
  isLoss: boolean,
  now: number,
  judges: Judges,
): Judgement {
  const circumstances = { now, roll: ROLL }
  if (isLoss) return judgeLost(book, attempt, failure.message, circumstances, { code: failure.code })
  const { action, tenant, settings } = attempt.snapshot
  // Settings are what an action published: few, and one object for many tasks is not promised.
  const key = JSON.stringify([action, tenant, failure.fingerprint, failure.rule, settings])
  let judge = judges.get(key)
  if (judge === undefined) {
    judge = recordedJudge(book, attempt, failure)
    judges.set(key, judge)
  }
  return judge(attempt, circumstances)
}

/** What an attempt that starts then would meet; null if nobody knows. */
function outcomeAt(
  startsAt: number,
  attempts: readonly RecordedAttempt[],
  evidence: Evidence,
  cause: string,
): boolean | null {
  // The task's own record: it had recovered by then, or it failed later still.
  if (attempts.some(({ status, dispatchedAt }) => status === 'succeeded' && dispatchedAt <= startsAt)) return true
  if (attempts.some(({ status, dispatchedAt }) => status !== 'succeeded' && dispatchedAt >= startsAt)) return false
  return evidence.at(cause, startsAt)
}
