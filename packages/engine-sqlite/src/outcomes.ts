// What the settlements of one call say about the workers whose attempts they end: gathered per worker, written once each.

import type { TenantId, WorkerId } from '@reprise/core'
import type { Outcome } from '@reprise/core/engine'
import { addOutcomes } from './registry.ts'
import type { Transaction } from './transaction.ts'

interface Seen {
  /** How attempts ended, in the order they were settled. */
  readonly ends: Outcome[]
  /** It got something done, or at least out of its hands. */
  hasProgressed: boolean
}

export class Outcomes {
  readonly #seen = new Map<WorkerId, Seen>()

  /** An attempt of this worker ended, well or badly. A good end is progress. */
  add(worker: WorkerId, tenant: string, ok: boolean): void {
    const seen = this.#of(worker)
    seen.ends.push({ tenant: tenant as TenantId, ok })
    if (ok) seen.hasProgressed = true
  }

  progressed(worker: WorkerId): void {
    this.#of(worker).hasProgressed = true
  }

  save(transaction: Transaction): void {
    for (const [worker, { ends, hasProgressed }] of this.#seen) addOutcomes(transaction, worker, ends, hasProgressed)
  }

  #of(worker: WorkerId): Seen {
    let seen = this.#seen.get(worker)
    if (seen === undefined) {
      seen = { ends: [], hasProgressed: false }
      this.#seen.set(worker, seen)
    }
    return seen
  }
}
