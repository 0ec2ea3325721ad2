// What one transaction knows and has yet to write: the lanes it touched, the store's own numbers, the minutes' counts,
// the journal. Verbs change these in memory; flush() writes each once, however many tasks the group moved.

import type { JournalEntryInput, PoolName, Priority, TaskId, TaskSettings, TaskStatus, WorkerId } from '@reprise/core'
import { claimOrder, scopeMatches } from '@reprise/core/engine'
import type { BreakerBook } from './breaker-book.ts'
import type { Database, StatementName, Value } from './database.ts'
import type { InternedTexts, Profiles } from './interned.ts'
import { type Lane, type LaneFilter, type LanePage, type LanePlace, saveLane } from './lane.ts'
import { type Flow, Minutes } from './minutes.ts'
import { QuotaWindows } from './quotas.ts'
import { scopeOfRow } from './rows.ts'
import type { Changed } from './wake.ts'

interface StoreRow {
  next_seq: number
  next_rank: number
  next_token: number
  backlog: number
  breakers_version: number
  has_inboxes: 0 | 1
}

/** What a process remembers from one transaction to the next. */
export interface Remembered {
  readonly profiles: Profiles
  readonly workerNames: InternedTexts
  readonly breakers: BreakerBook
}

const BACKLOG: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['queued', 'waiting'])

export class Transaction {
  readonly db: Database
  readonly now: number
  readonly profiles: Profiles
  readonly workerNames: InternedTexts
  readonly breakers: BreakerBook
  readonly quotas: QuotaWindows
  readonly #store: StoreRow
  #storeDirty = false
  readonly #lanes = new Map<number, Lane>()
  readonly #laneIds = new Map<string, number>()
  /** The tasks of a batch are mostly of one lane. */
  #lastLane: Lane | null = null
  readonly #dirtyLanes = new Set<Lane>()
  readonly #pools = new Map<string, number>()
  readonly #dirtyPools = new Set<string>()
  readonly #minutes: Minutes
  readonly #wokenPools = new Set<PoolName>()
  readonly #wokenInboxes = new Set<WorkerId>()
  readonly #ended: TaskId[] = []
  #everyPool = false
  #limited: boolean | null = null

  constructor(db: Database, now: number, { profiles, workerNames, breakers }: Remembered) {
    this.db = db
    this.now = now
    this.profiles = profiles
    this.workerNames = workerNames
    this.breakers = breakers
    this.quotas = new QuotaWindows(db, now)
    this.#minutes = new Minutes(db, now)
    const store = db.get<StoreRow>('loadStore')
    if (store === undefined) throw new Error('The store has lost its row of numbers.')
    this.#store = { ...store }
    breakers.refresh(store.breakers_version)
  }

  get changed(): Changed {
    return {
      pools: this.#wokenPools,
      everyPool: this.#everyPool,
      ended: this.#ended,
      inboxes: this.#wokenInboxes,
    }
  }

  get backlog(): number {
    return this.#store.backlog
  }

  /** The first of so many in a row; so is `nextRank`. */
  nextSeq(count = 1): number {
    this.#storeDirty = true
    const first = this.#store.next_seq
    this.#store.next_seq += count
    return first
  }

  nextRank(count = 1): number {
    this.#storeDirty = true
    const first = this.#store.next_rank
    this.#store.next_rank += count
    return first
  }

  nextToken(): number {
    this.#storeDirty = true
    return this.#store.next_token++
  }

  /** Whether a lease may lie in an inbox. */
  get hasInboxes(): boolean {
    return this.#store.has_inboxes === 1
  }

  set hasInboxes(value: boolean) {
    this.#store.has_inboxes = value ? 1 : 0
    this.#storeDirty = true
  }

  lane(id: number): Lane {
    const known = this.#lanes.get(id)
    if (known !== undefined) return known
    const row = this.db.get<Lane>('loadLane', id)
    if (row === undefined) throw new Error(`Lane ${id} is missing.`)
    return this.#know(row)
  }

  /** The lane of these names, if there is one. */
  findLane(pool: string, action: string, tenant: string): Lane | undefined {
    const last = this.#lastLane
    if (last !== null && last.pool === pool && last.action === action && last.tenant === tenant) return last
    this.#lastLane = this.#lookForLane(pool, action, tenant) ?? null
    return this.#lastLane ?? undefined
  }

  #lookForLane(pool: string, action: string, tenant: string): Lane | undefined {
    const key = `${pool}\n${action}\n${tenant}`
    const knownId = this.#laneIds.get(key)
    if (knownId !== undefined) return this.lane(knownId)
    const row = this.db.get<Lane>('findLane', pool, action, tenant)
    if (row === undefined) return undefined
    this.#laneIds.set(key, row.id)
    return this.#lanes.get(row.id) ?? this.#know(row)
  }

  /** The lane of these names, created (and held, if a hold or an open breaker covers it) when it is new. */
  laneOf(pool: string, action: string, tenant: string): Lane {
    return this.findLane(pool, action, tenant) ?? this.#createLane(pool, action, tenant)
  }

  #createLane(pool: string, action: string, tenant: string): Lane {
    const holds = this.db.all<{ pool: string; action: string; tenant: string }>('allHolds')
    const names = scopeOfRow({ pool, action, tenant })
    const held = holds.some((hold) => scopeMatches(scopeOfRow(hold), names as Required<typeof names>))
    const heldSince = held || this.breakers.holds({ action, tenant }) ? this.now : null
    const { lastId } = this.db.run('insertLane', pool, action, tenant, heldSince)
    return this.lane(lastId)
  }

  /** Lanes that can give something in this pool, lowest turn first, after a place in that order. */
  claimableLanes(pool: string, limit: number, filter: LaneFilter, after: LanePlace): LanePage {
    this.saveLanes()
    const { wanted, fullActions, fullTenants } = filter
    if (fullActions.length + fullTenants.length === 0) {
      const page = this.#lanesBy('claimableLanes', pool, limit, after.turn, after.id)
      if (wanted === null || page.lanes.every(({ action }) => wanted.has(action))) return page
    }
    const lists = [wanted === null ? null : [...wanted], fullActions, fullTenants]
    const texts = lists.map((list) => (list === null ? null : JSON.stringify(list)))
    return this.#lanesBy('claimableLanesOfSome', pool, limit, after.turn, after.id, ...texts)
  }

  #lanesBy(name: StatementName, pool: string, limit: number, ...values: Value[]): LanePage {
    const rows = this.db.arrays<[id: number, turn: number]>(name, pool, limit, ...values)
    const last = rows.at(-1)
    return {
      lanes: rows.map(([id]) => this.lane(id)),
      next: rows.length === limit && last !== undefined ? { turn: last[1], id: last[0] } : null,
    }
  }

  touch(lane: Lane): void {
    this.#dirtyLanes.add(lane)
  }

  /** Lane time: stands still while the lane is held. */
  laneTime(lane: Lane): number {
    return (lane.held_since ?? this.now) - lane.held_ms
  }

  virtualTime(pool: string): number {
    const known = this.#pools.get(pool)
    if (known !== undefined) return known
    const time = this.db.get<{ virtual_time: number }>('loadPool', pool)?.virtual_time ?? 0
    this.#pools.set(pool, time)
    return time
  }

  raiseVirtualTime(pool: string, turn: number): void {
    if (turn <= this.virtualTime(pool)) return
    this.#pools.set(pool, turn)
    this.#dirtyPools.add(pool)
  }

  /** Moves a task from one count of its lane to another; null is outside of the store. */
  move(lane: Lane, from: TaskStatus | null, to: TaskStatus | 'removed'): void {
    if (from === null) lane.accepted++
    else lane[from]--
    if (from === 'running') this.#slotIsFree()
    lane[to]++
    const added = (BACKLOG.has(to as TaskStatus) ? 1 : 0) - (from !== null && BACKLOG.has(from) ? 1 : 0)
    if (added !== 0) {
      this.#store.backlog += added
      this.#storeDirty = true
    }
    this.touch(lane)
  }

  /** An inspection found the backlog to be larger, or smaller, by this. */
  correctBacklog(by: number): void {
    if (by === 0) return
    this.#store.backlog += by
    this.#storeDirty = true
  }

  /** A limit was set or lifted: what is known of them is out of date. */
  limitsChanged(): void {
    this.#limited = null
  }

  /** With limits in force, an operator's or a breaker's, somebody may be waiting for this slot in whatever lane it covers. */
  #slotIsFree(): void {
    this.#limited ??= this.breakers.isLimiting || this.db.get('anyLimit') !== undefined
    if (this.#limited) this.#everyPool = true
  }

  count(lane: Lane, flow: Flow, by = 1): void {
    this.#minutes.count(lane.id, flow, by)
  }

  /** Attempts that started in a lane in this minute or in the one before, whichever had more. */
  startedLately(lane: Lane): number {
    return this.#minutes.startedLately(lane.id)
  }

  /** Puts a row into the queue and counts it claimable; the caller has moved the counts. */
  enqueue(
    lane: Lane,
    task: {
      readonly seq: number
      readonly priority: Priority
      readonly generation: number
      readonly deadline_at: number | null
    },
    rank: number,
    settings: TaskSettings,
  ): void {
    this.wakeLane(lane)
    lane.ready++
    this.touch(lane)
    const expires = settings.queueTtlMs === null ? null : this.laneTime(lane) + settings.queueTtlMs
    const deadline = task.generation === 1 ? task.deadline_at : null
    this.db.run('insertReady', lane.id, claimOrder(task.priority), rank, task.seq, this.now, expires, deadline)
    this.#wokenPools.add(lane.pool as PoolName)
  }

  /**
   * Counts new tasks and puts them into the queue: those whose seqs are among `span` numbers from `seq` on, which are `count`. The
   * caller has written their rows.
   */
  enqueueNew(
    lane: Lane,
    tasks: {
      readonly seq: number
      readonly span: number
      readonly count: number
      readonly place: number
      readonly settings: TaskSettings
    },
  ): void {
    const { seq, span, count, place, settings } = tasks
    if (count === 0) return
    this.wakeLane(lane)
    lane.accepted += count
    lane.queued += count
    lane.ready += count
    this.#store.backlog += count
    this.#storeDirty = true
    this.count(lane, 'accepted', count)
    this.touch(lane)
    const expires = settings.queueTtlMs === null ? null : this.laneTime(lane) + settings.queueTtlMs
    this.db.run('insertPlainReady', lane.id, place, this.now, expires, seq, seq + span - 1)
    this.#wokenPools.add(lane.pool as PoolName)
  }

  /** An absence earns no credit: a lane that comes back starts at its pool's present. */
  wakeLane(lane: Lane): void {
    if (lane.ready > 0) return
    lane.turn = Math.max(lane.turn, this.virtualTime(lane.pool))
    this.touch(lane)
  }

  wakePool(pool: string): void {
    this.#wokenPools.add(pool as PoolName)
  }

  /** Something changed that may concern any waiter for work. */
  wakeEverybody(): void {
    this.#everyPool = true
    this.limitsChanged()
  }

  wakeInbox(worker: WorkerId): void {
    this.#wokenInboxes.add(worker)
  }

  ended(id: TaskId): void {
    this.#ended.push(id)
  }

  journal(entry: JournalEntryInput): void {
    this.db.run(
      'appendJournal',
      this.now,
      entry.type,
      entry.taskId,
      entry.attempt,
      entry.actor,
      entry.reason,
      JSON.stringify(entry.data),
    )
  }

  flush(): void {
    this.saveLanes()
    for (const pool of this.#dirtyPools) this.db.run('savePool', pool, this.virtualTime(pool))
    this.#dirtyPools.clear()
    this.#minutes.flush()
    this.quotas.flush()
    if (this.breakers.isChanged) {
      this.breakers.save(++this.#store.breakers_version)
      this.#storeDirty = true
    }
    if (!this.#storeDirty) return
    const { next_seq, next_rank, next_token, backlog, breakers_version, has_inboxes } = this.#store
    this.db.run('saveStore', next_seq, next_rank, next_token, backlog, breakers_version, has_inboxes)
    this.#storeDirty = false
  }

  #know(row: Lane): Lane {
    const lane = { ...row }
    this.#lanes.set(lane.id, lane)
    return lane
  }

  /** Saves what changed so far, for a query over all lanes. */
  saveLanes(): void {
    for (const lane of this.#dirtyLanes) saveLane(this.db, lane)
    this.#dirtyLanes.clear()
  }
}
