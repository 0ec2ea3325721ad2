// The claim: promotes what is due, then takes entries lane by lane, fairly, and reserves them under leases. The rules
// stand in docs/engine-port.md; this file follows its numbers.

import {
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  checkLeaseMs,
  checkLimit,
  InvalidError,
  PICKS_PER_OLDEST,
  PROMOTE_MAX,
  type Priority,
  RETIRE_MAX,
} from '@reprise/core'
import { type EntryRow, entryPlace, entryRank, isOverdue, reserveEntry, retire } from './entries.ts'
import { limitRooms, type Room } from './gates.ts'
import { LeaseStarter } from './lease-starter.ts'
import type { admit } from './registry.ts'
import { FIRST_PLACE, type Lane, type LanePlace, type Transaction } from './transaction.ts'

export function claim(
  transaction: Transaction,
  request: ClaimRequest,
  admission: ReturnType<typeof admit>,
): ClaimResult {
  promoteDue(transaction, request.pools)
  const limit = Math.min(request.limit, admission.limit)
  const claimed = limit === 0 ? [] : new Claiming(transaction, request, limit).run()
  if (claimed.length > 0) admission.tookWork()
  return {
    claimed,
    nextDueAt: nextDueAt(transaction, request.pools),
    heldBack: admission.heldBack,
    now: transaction.now,
  }
}

export function checkClaim(request: ClaimRequest): void {
  checkLimit(request.limit)
  checkLeaseMs(request.leaseMs)
  if (new Set(request.pools).size !== request.pools.length) throw new InvalidError('A claim names each pool once.')
}

function promoteDue(transaction: Transaction, pools: readonly string[]): void {
  const { db, now } = transaction
  interface DueRow {
    readonly seq: number
    readonly due_at: number
    readonly lane: number
    readonly priority: Priority
    readonly profile: number
    readonly generation: number
    readonly deadline_at: number | null
  }
  const due = pools.flatMap((pool) => {
    const next = db.get<{ due_at: number }>('nextDue', pool)
    return next === undefined || next.due_at > now ? [] : db.all<DueRow>('dueTasks', pool, now, PROMOTE_MAX)
  })
  if (pools.length > 1) due.sort((a, b) => a.due_at - b.due_at || a.seq - b.seq)
  for (const row of due.slice(0, PROMOTE_MAX)) {
    const lane = transaction.lane(row.lane)
    const rank = transaction.nextRank()
    db.run('deleteWaiting', lane.pool, row.due_at, row.seq)
    db.run('enterQueue', now, rank, row.seq)
    transaction.move(lane, 'waiting', 'queued')
    transaction.enqueue(lane, row, rank, transaction.profiles.settingsOf(row.profile))
  }
}

function nextDueAt(transaction: Transaction, pools: readonly string[]): number | null {
  let next: number | null = null
  for (const pool of pools) {
    const due = transaction.db.get<{ due_at: number }>('nextDue', pool)?.due_at
    if (due !== undefined && (next === null || due < next)) next = due
  }
  return next
}

/** How far a claim has read the lanes of a pool. */
interface PoolReading {
  readonly pool: string
  /** When the claim began. */
  readonly virtualTime: number
  next: LanePlace | null
  candidates: number
}

/** A lane during one claim: its entries as far as they were read, and where it stands in the order. */
interface Candidate {
  readonly lane: Lane
  readonly reading: PoolReading
  /** turn − virtual time when the claim began, plus one for each entry taken. */
  order: number
  entries: EntryRow[]
  next: number
  /** Taken as one run from the start of one place, so that one statement can delete them. */
  runPlace: number
  runRank: number
  /** Once found true it stays so: a claim only takes away. */
  onePriority?: boolean
}

class Claiming {
  readonly #transaction: Transaction
  readonly #limit: number
  readonly #claimed: Claimed[] = []
  readonly #leases: LeaseStarter
  readonly #rooms: readonly Room[]
  readonly #candidates = new Map<number, Candidate>()
  readonly #seen = new Set<number>()
  readonly #actions: ReadonlySet<string> | null
  readonly #pools: readonly PoolReading[]
  #retired = 0

  constructor(transaction: Transaction, request: ClaimRequest, limit: number) {
    this.#transaction = transaction
    this.#limit = limit
    this.#rooms = limitRooms(transaction)
    this.#leases = new LeaseStarter(transaction, request.worker, request.leaseMs)
    this.#pools = request.pools.map((pool) => ({
      pool,
      virtualTime: transaction.virtualTime(pool),
      next: FIRST_PLACE,
      candidates: 0,
    }))
    this.#actions = request.actions === null ? null : new Set<string>(request.actions)
  }

  run(): Claimed[] {
    for (const reading of this.#pools) this.#readOn(reading)
    while (this.#claimed.length < this.#limit && this.#retired < RETIRE_MAX) {
      const candidate = lowest(this.#candidates.values())
      if (candidate === undefined) break
      const rooms = this.#rooms.length === 0 ? this.#rooms : this.#rooms.filter((room) => room.matches(candidate.lane))
      if (candidate.lane.ready === 0 || rooms.some((room) => room.left <= 0)) this.#exclude(candidate)
      else if (this.#takeNext(candidate)) for (const room of rooms) room.left--
    }
    for (const candidate of this.#candidates.values()) this.#deleteRun(candidate)
    this.#leases.flush()
    return this.#claimed
  }

  /** The next lanes of a pool in the order of turns, until there are as many as there are entries to take: no more can matter. */
  #readOn(reading: PoolReading): void {
    while (reading.next !== null && reading.candidates < this.#limit) {
      const page = this.#transaction.claimableLanes(reading.pool, this.#limit, this.#actions, reading.next)
      reading.next = page.next
      for (const lane of page.lanes) {
        // Served in this claim, it comes again with its new turn.
        if (this.#seen.has(lane.id)) continue
        this.#seen.add(lane.id)
        const order = lane.turn - reading.virtualTime
        this.#candidates.set(lane.id, { lane, reading, order, entries: [], next: 0, runPlace: -1, runRank: 0 })
        reading.candidates++
      }
    }
  }

  /** This lane gives nothing more; the next of its pool takes its place. */
  #exclude(candidate: Candidate): void {
    this.#deleteRun(candidate)
    this.#candidates.delete(candidate.lane.id)
    candidate.reading.candidates--
    this.#readOn(candidate.reading)
  }

  /** Takes the candidate's next entry; false if it was past its time and was retired instead. */
  #takeNext(candidate: Candidate): boolean {
    const { lane } = candidate
    const wantsOldest = lane.picks % PICKS_PER_OLDEST === PICKS_PER_OLDEST - 1 && !this.#hasOnePriority(candidate)
    const entry = wantsOldest ? this.#oldest(candidate) : this.#first(candidate)
    lane.ready--
    this.#transaction.touch(lane)
    if (isOverdue(this.#transaction, entry, lane)) {
      retire(this.#transaction, entry, lane)
      this.#retired++
      return false
    }
    if (wantsOldest) this.#transaction.db.run('deleteReady', lane.id, entryPlace(entry), entryRank(entry))
    else this.#extendRun(candidate, entry)
    this.#claimed.push(reserveEntry(this.#transaction, lane, entry, this.#leases))
    this.#transaction.raiseVirtualTime(lane.pool, lane.turn)
    lane.turn++
    lane.picks++
    candidate.order++
    return true
  }

  #hasOnePriority(candidate: Candidate): boolean {
    if (candidate.onePriority === true) return true
    const places = this.#transaction.db.get<{ first: number | null; last: number | null }>(
      'placesOfLane',
      candidate.lane.id,
    )
    candidate.onePriority = places?.first === places?.last
    return candidate.onePriority
  }

  #first(candidate: Candidate): EntryRow {
    if (candidate.next >= candidate.entries.length) {
      this.#deleteRun(candidate)
      const wanted = this.#limit - this.#claimed.length
      candidate.entries = this.#transaction.db.arrays<EntryRow>('nextEntries', candidate.lane.id, wanted)
      candidate.next = 0
    }
    const entry = candidate.entries[candidate.next++]
    if (entry === undefined) throw new Error(`Lane ${candidate.lane.id} counts more claimable entries than it has.`)
    return entry
  }

  #oldest(candidate: Candidate): EntryRow {
    this.#deleteRun(candidate)
    candidate.entries = []
    const [entry] = this.#transaction.db.arrays<EntryRow>('oldestEntry', candidate.lane.id)
    if (entry === undefined) throw new Error(`Lane ${candidate.lane.id} counts more claimable entries than it has.`)
    return entry
  }

  #extendRun(candidate: Candidate, entry: EntryRow): void {
    const place = entryPlace(entry)
    if (candidate.runPlace !== place) {
      this.#deleteRun(candidate)
      candidate.runPlace = place
    }
    candidate.runRank = entryRank(entry)
  }

  #deleteRun(candidate: Candidate): void {
    if (candidate.runPlace === -1) return
    this.#transaction.db.run('deleteReadyUpTo', candidate.lane.id, candidate.runPlace, candidate.runRank)
    candidate.runPlace = -1
  }
}

function lowest(candidates: Iterable<Candidate>): Candidate | undefined {
  let best: Candidate | undefined
  for (const candidate of candidates) {
    if (
      best === undefined ||
      candidate.order < best.order ||
      (candidate.order === best.order && candidate.lane.id < best.lane.id)
    )
      best = candidate
  }
  return best
}
