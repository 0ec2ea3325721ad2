// Which workers a retry avoids: the one that failed it, and those like it, for a short while and only if a better one is there.
// One for each claim. Entries that were never tried cost nothing.

import type { HealthThresholds, WorkerId } from '@reprise/core'
import { AVOID_MS, assessHealth } from '@reprise/core/engine'
import { ENTRY, type EntryRow, isOverdue } from './entries.ts'
import type { ExecutionRow } from './execution-rows.ts'
import type { Lane } from './lane.ts'
import { allWorkers, evidenceOf, registrationOf, type StoredRegistration, type WorkerRow } from './registry.ts'
import { EXECUTION_NUMBER } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

interface Peer {
  readonly id: WorkerId
  readonly registration: StoredRegistration
}

interface Peers {
  readonly registered: ReadonlyMap<WorkerId, StoredRegistration>
  /** Others that take work now. */
  readonly able: readonly Peer[]
}

export class Avoidance {
  readonly #transaction: Transaction
  readonly #worker: WorkerId
  readonly #thresholds: HealthThresholds
  readonly #verdicts = new Map<string, boolean>()
  #peers: Peers | null = null

  constructor(transaction: Transaction, worker: WorkerId, thresholds: HealthThresholds) {
    this.#transaction = transaction
    this.#worker = worker
    this.#thresholds = thresholds
  }

  /** Until when this worker should leave a queue entry to others; null if it may have it now. */
  until(lane: Lane, entry: EntryRow): number | null {
    const since = entry[ENTRY.since]
    if (since === null) return null
    const until = since + AVOID_MS
    const { db, now } = this.#transaction
    if (now >= until || isOverdue(this.#transaction, entry, lane)) return null
    this.#peers ??= this.#lookAround()
    if (this.#peers.able.length === 0) return null
    const latest = db.get<ExecutionRow>('executionOf', entry[ENTRY.seq], entry[ENTRY.attempt])
    if (latest === undefined || latest.generation !== entry[ENTRY.generation] || latest.worker === null) return null
    if (latest.status === EXECUTION_NUMBER.cancelled) return null
    return this.#isBetterThere(this.#peers, lane, latest.worker) ? until : null
  }

  #isBetterThere(peers: Peers, lane: Lane, failedOn: WorkerId): boolean {
    const key = `${lane.id}\n${failedOn}`
    const known = this.#verdicts.get(key)
    if (known !== undefined) return known
    const own = peers.registered.get(this.#worker)
    const was = peers.registered.get(failedOn)
    const limit = own === undefined ? 0 : likeness(this.#worker, own, failedOn, was)
    const verdict = peers.able.some(
      ({ id, registration }) =>
        (registration.pools as readonly string[]).includes(lane.pool) &&
        (registration.actions === null || (registration.actions as readonly string[]).includes(lane.action)) &&
        likeness(id, registration, failedOn, was) < limit,
    )
    this.#verdicts.set(key, verdict)
    return verdict
  }

  #lookAround(): Peers {
    const rows = allWorkers(this.#transaction)
    const registered = new Map(rows.map((row) => [row.id, registrationOf(row)]))
    const able = rows
      .filter((row) => row.id !== this.#worker && this.#isAble(row))
      .flatMap(({ id }) => {
        const registration = registered.get(id)
        return registration === undefined ? [] : [{ id, registration }]
      })
    return { registered, able }
  }

  #isAble(row: WorkerRow): boolean {
    if (row.draining === 1) return false
    return assessHealth(evidenceOf(row), this.#transaction.now, this.#thresholds).status === 'healthy'
  }
}

/** How much a worker has in common with the one that failed it. */
function likeness(
  id: WorkerId,
  { host, version }: StoredRegistration,
  failedOn: WorkerId,
  was: StoredRegistration | undefined,
): number {
  if (id === failedOn) return 3
  return was === undefined ? 0 : Number(host === was.host) + Number(version === was.version)
}
