// What is known of an attempt when it is settled. A worker in this process settles with the very object that it claimed, which
// says it all. Others name only task, attempt and token, so what this process claimed or found overdue is kept in mind
// until then. Bounded: if many are never settled here (workers over HTTP may settle elsewhere), the oldest are forgotten,
// and their settlements count for an unknown pool.

import type { ActionName, Claimed, Overdue, RetryToken, Settlement, WaitReason } from '@reprise/core'
import type { PoolMeters } from './pool-meters.ts'

export interface LeaseFact {
  readonly action: ActionName
  readonly meters: PoolMeters
  readonly retryToken: RetryToken
  /** Why there is this attempt; null for a first one, or if it is not known. */
  readonly retryReason: WaitReason | null
  /** The store's time; null if it never started. */
  readonly startedAt: number | null
}

type Known = Pick<LeaseFact, 'retryReason' | 'startedAt'> & Pick<Overdue, 'snapshot'>

const FACTS_MAX = 50_000

export class LeaseFacts {
  readonly #metersOf: (pool: string) => PoolMeters
  readonly #max: number
  readonly #facts = new Map<string, LeaseFact>()

  constructor(metersOf: (pool: string) => PoolMeters, max: number = FACTS_MAX) {
    this.#metersOf = metersOf
    this.#max = max
  }

  claimed(claimed: Claimed): void {
    if (this.#max > 0) this.#add(claimed.token, this.#factOf(claimed))
  }

  /** What a sweep found. A claim of this process knows more, so it stays. */
  overdue({ ref, startedAt, snapshot }: Overdue): void {
    const key = 'token' in ref ? ref.token : entryKey(ref.taskId)
    if (this.#facts.has(key)) return
    this.#add(key, this.#factOf({ snapshot, retryReason: null, startedAt }))
  }

  /**
   * What is known of the attempt that a settlement ends; forgotten thereby. A repeated one is known only if it was not taken
   * before; where nothing is kept in mind, a worker repeats only what it had no answer to.
   */
  take(settlement: Settlement, isRepeated: boolean): LeaseFact | undefined {
    // Even to look a new text up costs more than all the rest.
    if (this.#max === 0 && this.#facts.size === 0) return this.#carriedBy(settlement)
    const key = settlement.kind === 'expired' ? entryKey(settlement.ref.taskId) : settlement.ref.token
    const fact = this.#facts.get(key)
    if (fact !== undefined) this.#facts.delete(key)
    else if (!isRepeated || this.#max === 0) return this.#carriedBy(settlement)
    return fact
  }

  #carriedBy({ ref }: Settlement): LeaseFact | undefined {
    return isClaimed(ref) ? this.#factOf(ref) : undefined
  }

  #factOf({ snapshot, retryReason, startedAt }: Known): LeaseFact {
    const { action, pool, retryToken } = snapshot
    return { action, meters: this.#metersOf(pool), retryToken, retryReason, startedAt }
  }

  #add(key: string, fact: LeaseFact): void {
    this.#facts.set(key, fact)
    if (this.#facts.size <= Math.max(this.#max, OVERDUE_MAX)) return
    for (const oldest of this.#facts.keys()) {
      this.#facts.delete(oldest)
      return
    }
  }
}

/** Two looks of a sweep: what it finds is settled, or refused, at once. */
const OVERDUE_MAX = 2_000

const isClaimed = (ref: Settlement['ref']): ref is Claimed => 'snapshot' in ref && 'startedAt' in ref

/** No token has a line end in it. */
const entryKey = (taskId: string): string => `\n${taskId}`
