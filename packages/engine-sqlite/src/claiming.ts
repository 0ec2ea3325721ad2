// Taking entries for one claim: lane by lane, fairly, each reserved under a lease; what is past its time is retired, what
// the worker should leave to others is passed over. Steps 4 and 5 of the claim in docs/engine-port.md.

import type { Claimed, ClaimRequest } from '@reprise/core'
import { PICKS_PER_OLDEST, RETIRE_MAX } from '@reprise/core/engine'
import type { Avoidance } from './avoidance.ts'
import { type EntryRow, entryPlace, entryRank, isOverdue, reserveEntry, retire } from './entries.ts'
import { FIRST_PLACE, type Lane, type LaneFilter, type LanePlace } from './lane.ts'
import { LeaseStarter } from './lease-starter.ts'
import type { WorkerRow } from './registry.ts'
import { lanesWithRoom, limitRooms, type Room, roomsOver } from './rooms.ts'
import type { Transaction } from './transaction.ts'

export interface Taken {
  readonly claimed: readonly Claimed[]
  /** When the first of the entries that were passed over may be had by this worker as well; null if none was. */
  readonly avoidedUntil: number | null
}

/** How far a claim has read the lanes of a pool. */
interface PoolReading {
  readonly pool: string
  /** When the claim began. */
  readonly virtualTime: number
  next: LanePlace | null
  candidates: number
  /** Which of them are worth reading; null if none is. */
  filter: LaneFilter | null
}

/** A lane during one claim: its entries as far as they were read, and where it stands in the order. */
interface Candidate {
  readonly lane: Lane
  readonly reading: PoolReading
  /** turn − virtual time when the claim began, plus one for each entry taken. */
  order: number
  entries: EntryRow[]
  next: number
  /** Of the last entry that was taken, retired or passed over in claim order: where to read on. */
  place: number
  rank: number
  /** By place: up to which rank the search for the oldest passed over all there was. Null before it passed over any. */
  oldestAfter: number[] | null
  /** An entry before the present one was left where it is. */
  hasPassed: boolean
  /** Taken as one run from the start of one place, so that one statement can delete them. */
  runPlace: number
  runRank: number
  /** Once found true it stays so: a claim only takes away. */
  onePriority?: boolean
}

const FROM_THE_START = '[0,0,0,0,0,0,0,0,0,0]'

export class Claiming {
  readonly #transaction: Transaction
  readonly #limit: number
  readonly #avoidance: Avoidance | null
  readonly #claimed: Claimed[] = []
  readonly #leases: LeaseStarter
  readonly #rooms: readonly Room[]
  readonly #candidates = new Map<number, Candidate>()
  readonly #seen = new Set<number>()
  readonly #actions: ReadonlySet<string> | null
  readonly #pools: readonly PoolReading[]
  #retired = 0
  #avoidedUntil: number | null = null

  constructor(
    transaction: Transaction,
    request: ClaimRequest,
    row: WorkerRow,
    limit: number,
    avoidance: Avoidance | null,
  ) {
    this.#transaction = transaction
    this.#limit = limit
    this.#avoidance = avoidance
    this.#rooms = limitRooms(transaction)
    this.#leases = new LeaseStarter(transaction, request.worker, row, request.leaseMs, request.stage ?? 'run')
    this.#actions = request.actions === null ? null : new Set<string>(request.actions)
    this.#pools = request.pools.map((pool) => ({
      pool,
      virtualTime: transaction.virtualTime(pool),
      next: FIRST_PLACE,
      candidates: 0,
      filter: lanesWithRoom(this.#rooms, pool, this.#actions),
    }))
  }

  run(): Taken {
    for (const reading of this.#pools) this.#readOn(reading)
    while (this.#claimed.length < this.#limit && this.#retired < RETIRE_MAX) {
      const candidate = lowest(this.#candidates.values())
      if (candidate === undefined) break
      const rooms = roomsOver(this.#rooms, candidate.lane)
      if (candidate.lane.ready === 0 || rooms.some((room) => room.left <= 0)) this.#exclude(candidate)
      else if (this.#takeNext(candidate)) this.#use(rooms)
    }
    for (const candidate of this.#candidates.values()) this.#deleteRun(candidate)
    this.#leases.flush()
    return { claimed: this.#claimed, avoidedUntil: this.#avoidedUntil }
  }

  /** One more task runs under these limits. Those that are full now have lanes that need not be read any more. */
  #use(rooms: readonly Room[]): void {
    let isAnyFull = false
    for (const room of rooms) {
      room.left--
      isAnyFull ||= room.left <= 0
    }
    if (!isAnyFull) return
    for (const reading of this.#pools) reading.filter = lanesWithRoom(this.#rooms, reading.pool, this.#actions)
  }

  /** The next lanes of a pool in the order of turns, until there are as many as there are entries to take: no more can matter. */
  #readOn(reading: PoolReading): void {
    while (reading.next !== null && reading.filter !== null && reading.candidates < this.#limit) {
      const page = this.#transaction.claimableLanes(reading.pool, this.#limit, reading.filter, reading.next)
      reading.next = page.next
      for (const lane of page.lanes) {
        // Served in this claim, it comes again with its new turn.
        if (this.#seen.has(lane.id)) continue
        this.#seen.add(lane.id)
        const order = lane.turn - reading.virtualTime
        this.#candidates.set(lane.id, {
          lane,
          reading,
          order,
          entries: [],
          next: 0,
          place: -1,
          rank: 0,
          oldestAfter: null,
          hasPassed: false,
          runPlace: -1,
          runRank: 0,
        })
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

  /** Takes the candidate's next entry; false if it has none for this worker, or retired one that was past its time. */
  #takeNext(candidate: Candidate): boolean {
    const { lane } = candidate
    const wantsOldest = lane.picks % PICKS_PER_OLDEST === PICKS_PER_OLDEST - 1 && !this.#hasOnePriority(candidate)
    const entry = wantsOldest ? this.#oldest(candidate) : this.#first(candidate)
    if (entry === null) {
      this.#exclude(candidate)
      return false
    }
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

  /** The next entry in claim order that is not to be avoided; null if there is none. */
  #first(candidate: Candidate): EntryRow | null {
    for (;;) {
      if (candidate.next >= candidate.entries.length) this.#readEntries(candidate)
      const entry = candidate.entries[candidate.next++]
      if (entry === undefined) return noMoreIn(candidate)
      candidate.place = entryPlace(entry)
      candidate.rank = entryRank(entry)
      if (!this.#passesOver(candidate, entry)) return entry
    }
  }

  #readEntries(candidate: Candidate): void {
    const wanted = this.#limit - this.#claimed.length
    const { lane, place, rank } = candidate
    this.#deleteRun(candidate)
    candidate.entries = this.#transaction.db.arrays<EntryRow>('nextEntries', lane.id, wanted, place, rank)
    candidate.next = 0
  }

  /** The entry that came first and is not to be avoided; null if there is none. */
  #oldest(candidate: Candidate): EntryRow | null {
    this.#deleteRun(candidate)
    candidate.entries = []
    for (;;) {
      const after = candidate.oldestAfter === null ? FROM_THE_START : JSON.stringify(candidate.oldestAfter)
      const [entry] = this.#transaction.db.arrays<EntryRow>('oldestEntry', candidate.lane.id, after)
      if (entry === undefined) return noMoreIn(candidate)
      if (!this.#passesOver(candidate, entry)) return entry
      candidate.oldestAfter ??= Array.from({ length: 10 }, () => 0)
      candidate.oldestAfter[entryPlace(entry)] = entryRank(entry)
    }
  }

  #passesOver(candidate: Candidate, entry: EntryRow): boolean {
    const until = this.#avoidance?.until(candidate.lane, entry) ?? null
    if (until === null) return false
    if (!candidate.hasPassed) this.#deleteRun(candidate)
    candidate.hasPassed = true
    if (this.#avoidedUntil === null || until < this.#avoidedUntil) this.#avoidedUntil = until
    return true
  }

  #extendRun(candidate: Candidate, entry: EntryRow): void {
    const place = entryPlace(entry)
    if (candidate.hasPassed) {
      // A run would take along what was passed over.
      this.#transaction.db.run('deleteReady', candidate.lane.id, place, entryRank(entry))
      return
    }
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

function noMoreIn({ hasPassed, lane }: Candidate): null {
  if (!hasPassed) throw new Error(`Lane ${lane.id} counts more claimable entries than it has.`)
  return null
}
