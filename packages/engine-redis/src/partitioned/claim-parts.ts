// What the partitions give for one claim, put together: the leases, the earliest due time, the latest time.

import type { Claimed, ClaimRequest, ClaimResult, HealthStatus, HealthThresholds } from '@reprise/core'
import type { Blocked, PartitionClaim } from '../claim.ts'
import { outwardToken } from './partitions.ts'

/** Limits whose share in a partition was full, with the place of that partition. */
export interface BlockedAt extends Blocked {
  readonly place: number
}

export class ClaimParts {
  readonly request: ClaimRequest
  readonly health: HealthStatus
  /** Partitions that have no more. */
  readonly exhausted = new Set<number>()
  readonly #most: number
  readonly #claimed: Claimed[] = []
  #blocked: BlockedAt[] = []
  #nextDueAt: number | null = null
  #now: number

  constructor(request: ClaimRequest, health: HealthStatus, { maxDegradedClaim }: HealthThresholds, now: number) {
    const { limit } = request
    this.request = request
    this.health = health
    this.#most = { healthy: limit, degraded: Math.min(limit, maxDegradedClaim), unhealthy: 0 }[health]
    this.#now = now
  }

  /** How many more the worker may get. */
  get wanted(): number {
    return Math.max(this.#most - this.#claimed.length, 0)
  }

  get claimed(): readonly Claimed[] {
    return this.#claimed
  }

  /** What a partition gave, and how many it was asked for. */
  add(place: number, answer: PartitionClaim, amount: number): void {
    if (answer.claimed.length < amount) this.exhausted.add(place)
    for (const lease of answer.claimed) this.#claimed.push({ ...lease, token: outwardToken(place, lease.token) })
    for (const blocked of answer.blocked) this.#blocked.push({ ...blocked, place })
    this.#now = Math.max(this.#now, answer.now)
    this.#nextDueAt = earlier(this.#nextDueAt, answer.nextDueAt)
  }

  /** What stood in the way since this was last asked. */
  takeBlocked(): readonly BlockedAt[] {
    const blocked = this.#blocked
    this.#blocked = []
    return blocked
  }

  result(): ClaimResult {
    const heldBack = this.health === 'healthy' ? null : this.health
    return { claimed: this.#claimed, nextDueAt: this.#nextDueAt, heldBack, now: this.#now }
  }
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
