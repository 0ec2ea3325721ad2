// The worker's main loop: it brings finished executions to the store and claims new ones, both in one trip. It starts
// executions and keeps their settlements until the store has them. When to start and stop is the worker's business.

import {
  actionsOfAnyHealth,
  BATCH_MAX,
  type Backoff,
  backoffMs,
  type ClaimRequest,
  type ClaimResult,
  type Clock,
  claimedWhateverHealth,
  type Idle,
  idleAfter,
  isRepriseError,
  type Logger,
  type Mark,
  type PolicySource,
  provideHandlers,
  type Random,
  type Settlement,
  type SettleResult,
  sleep,
  untilClaimable,
  WakeUp,
} from '@reprise/core'
import type { Surroundings } from '@reprise/orchestrator'
import type { ActionRegistry } from './action-registry.ts'
import { ActiveExecution, type ExecutionOwner } from './active-execution.ts'
import { AwaitingHandlers } from './awaiting-handlers.ts'
import { DeadlineWatch } from './deadline-watch.ts'
import { IdleAnswers } from './idle-answers.ts'
import { runExecution } from './pipeline.ts'
import { isRefusal } from './refusals.ts'
import { bringLastLines } from './renewal.ts'
import { ExecutionScopes, executionNow } from './running-now.ts'
import type { SettlementLog } from './settlement-log.ts'
import type { WorkerStore } from './store/worker-store.ts'
import { Suspects } from './suspects.ts'
import { endAttempt, inSettlement } from './tracing.ts'

/** A store error is told to `onError`, and the loop goes on after a while. */
export interface ExecutionLoopOptions extends Surroundings {
  readonly engine: WorkerStore
  readonly actions: ActionRegistry
  /** For what handlers write. */
  readonly handlerLog: Logger
  readonly concurrency: number
  readonly settlementLog: SettlementLog
  readonly policies: PolicySource
  /** Everything of a claim but its limit; asked for at every trip, since the epoch may change. */
  readonly claimant: () => Omit<ClaimRequest, 'limit'>
  /** The store no longer knows this worker: it must register again. */
  readonly onUnknown: () => Promise<void>
  /** A claim with this epoch was refused: another worker has the id, or this one has registered again meanwhile. */
  readonly onFenced: (epoch: number) => void
  /** An error after which this worker can't go on. */
  readonly onFatal: (error: unknown) => void
  /** Executions have begun. */
  readonly onStarted: () => void
  /** A handler has told something that the store does not have yet. */
  readonly onNews: (execution: ActiveExecution) => void
  /** When a lease ends that would end then if no thread had renewed it, on the monotonic clock. */
  readonly leaseEnd: (endsAt: number) => number
  /** Renews the lease of one, at the wish of its handler. */
  readonly renewNow: (execution: ActiveExecution) => Promise<void>
}

/** Between a claim that was refused for its epoch and the next. */
const FENCED_MS = 5
const ALONE_REASON = 'released: a task that may crash its worker has to run alone'
/** Handlers that ignore their signal, per slot, before a worker stops taking more. */
const ABANDONED_PER_SLOT = 10
const ERROR_BACKOFF: Backoff = { kind: 'decorrelated', baseMs: 50, maxMs: 2_000 }

interface Trip {
  readonly settled: readonly SettleResult[]
  readonly claim: ClaimResult | null
  /** Before the claim was sent, on the monotonic clock. */
  readonly sentAt: number
}

export class ExecutionLoop implements ExecutionOwner {
  readonly clock: Clock
  readonly random: Random
  readonly policies: PolicySource
  readonly active = new Set<ActiveExecution>()
  readonly #options: ExecutionLoopOptions
  readonly #engine: WorkerStore
  readonly #wakeUp = new WakeUp()
  /** What one trip carries at the most, each way: trips that are under way together share the room between them. */
  readonly #share: number
  readonly #deadlines: DeadlineWatch
  readonly #scopes = new ExecutionScopes()
  readonly #awaiting: AwaitingHandlers
  readonly #suspects: Suspects
  readonly #idleWaiters = new Set<() => void>()
  /** Ended, and not in the store yet. */
  #outbox: ActiveExecution[] = []
  #mode: 'claiming' | 'draining' | 'halted' = 'claiming'
  /** Under way to the store, and how many they may bring back. */
  readonly #trips = new Set<Promise<void>>()
  #claiming = 0
  /** Null while there may be something to claim. */
  #idle: Idle | null = null
  readonly #idleAnswers = new IdleAnswers()
  #wakeIsDue = false
  #errorsInRow = 0
  #abandoned = 0

  constructor(options: ExecutionLoopOptions) {
    this.#options = options
    this.#engine = options.engine
    this.#share = Math.min(Math.ceil(options.concurrency / options.engine.info.callsAtOnce), BATCH_MAX)
    this.clock = options.clock
    this.random = options.random
    this.policies = options.policies
    this.#deadlines = new DeadlineWatch(options.clock, this.active)
    this.#awaiting = new AwaitingHandlers(options.concurrency, options.log)
    provideHandlers(executionNow)
    this.#suspects = new Suspects({ clock: options.clock, active: this.active, wake: () => this.#wakeUp.call() })
  }

  /** Handlers that run on though their execution has ended. */
  get abandoned(): number {
    return this.#abandoned
  }

  /** Why nothing is claimed though there is room; null if nothing is wrong. */
  get trouble(): string | null {
    if (this.#abandoned < this.#options.concurrency * ABANDONED_PER_SLOT) return null
    return `${this.#abandoned} handlers run on though their attempts have ended; restart it`
  }

  get unsettled(): number {
    return this.#outbox.length
  }

  /** Runs until it was told to drain and everything is in the store, or to halt. */
  async run(): Promise<void> {
    while (this.#mode !== 'halted' && !(this.#mode === 'draining' && this.#isEmpty())) {
      const batch = this.#mayTrip() ? this.#outbox.splice(0, this.#share) : []
      const limit = this.#mayTrip() ? this.#claimLimit(batch.length) : 0
      if (batch.length === 0 && limit === 0) await this.#untilNeeded()
      else this.#depart(batch, limit)
      if (this.#trips.size >= this.#engine.info.callsAtOnce) await Promise.race(this.#trips)
      else if (this.#trips.size > 0) await this.#nextTurn()
    }
    await Promise.all(this.#trips)
    this.#deadlines.stop()
  }

  /** No more claims; what runs may finish. */
  drain(): void {
    if (this.#mode === 'claiming') this.#mode = 'draining'
    this.#suspects.stop()
    this.#wakeUp.call()
  }

  /** Nothing any more: what runs is dropped, and what was not settled is left to the sweep. */
  halt(reason: Error): void {
    this.#mode = 'halted'
    this.#suspects.stop()
    for (const execution of this.active) execution.supersede(reason)
    this.#wakeUp.call()
  }

  /** Comes back when no execution is active. */
  whenIdle(): Promise<void> {
    if (this.active.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idleWaiters.add(resolve))
  }

  ended(execution: ActiveExecution): void {
    this.active.delete(execution)
    endAttempt(execution)
    if (execution.settlement !== null) this.#outbox.push(execution)
    if (execution.handlerRuns) this.#abandon()
    if (this.active.size === 0 && this.#idleWaiters.size > 0) {
      for (const resolve of this.#idleWaiters) resolve()
      this.#idleWaiters.clear()
    }
    if (this.#wakeIsDue) return
    // Handlers that end in the same turn go to the store together.
    this.#wakeIsDue = true
    this.clock.soon(() => {
      this.#wakeIsDue = false
      this.#wakeUp.call()
    })
  }

  leaseEnd(endsAt: number): number {
    return this.#options.leaseEnd(endsAt)
  }

  handlerAwaits(): void {
    this.#awaiting.begun()
  }

  handlerGoesOn(): void {
    this.#awaiting.ended()
  }

  hasNews(execution: ActiveExecution): void {
    this.#options.onNews(execution)
  }

  renewNow(execution: ActiveExecution): Promise<void> {
    return this.#options.renewNow(execution)
  }

  #abandon(): void {
    this.#abandoned++
    if (this.#abandoned !== this.#options.concurrency * ABANDONED_PER_SLOT) return
    const words = 'Too many handlers run on though their attempts have ended. No more is claimed: restart this worker.'
    this.#options.log.error(words, { abandoned: this.#abandoned })
  }

  handlerReturned(): void {
    this.#abandoned--
    this.#wakeUp.call()
  }

  #isEmpty(): boolean {
    return this.active.size === 0 && this.#outbox.length === 0 && this.#trips.size === 0
  }

  /** While one trip is under way, another is worth it only if it carries a good deal: small ones wait for company. */
  #mayTrip(): boolean {
    if (this.#trips.size === 0) return true
    if (this.#trips.size >= this.#engine.info.callsAtOnce) return false
    return Math.max(this.#outbox.length, this.#idle === null ? this.#room() : 0) >= this.#options.concurrency / 4
  }

  #depart(batch: readonly ActiveExecution[], limit: number): void {
    this.#claiming += limit
    const trip = this.#trip(batch, limit).finally(() => {
      this.#claiming -= limit
      this.#trips.delete(trip)
      this.#wakeUp.call()
    })
    this.#trips.add(trip)
  }

  /** Two trips that leave together come back together, and the store rests while they are unpacked. */
  #nextTurn(): Promise<void> {
    return new Promise((resolve) => this.clock.soon(resolve))
  }

  /** How many more could run. */
  #room(): number {
    return this.#options.concurrency - this.active.size - this.#outbox.length - this.#claiming
  }

  /** How many to claim on a trip that settles this many: 0 if there is no room, or nothing to be had. */
  #claimLimit(settling: number): number {
    if (this.#mode !== 'claiming' || (this.#idle !== null && settling === 0)) return 0
    // Handlers that run on after their end take memory and time too: at some point nothing more is added.
    if (this.trouble !== null) return 0
    return this.#suspects.room(Math.min(Math.max(this.#room(), 0), this.#share), this.#claiming)
  }

  async #trip(batch: readonly ActiveExecution[], limit: number): Promise<void> {
    let trip: Trip
    let mark: Mark
    const { epoch } = this.#options.claimant()
    const departure = this.#idleAnswers.depart()
    try {
      mark = this.#engine.mark()
      trip = await this.#call(batch, limit)
    } catch (error) {
      return this.#failedTrip(error, batch, epoch)
    }
    this.#errorsInRow = 0
    this.#options.settlementLog.settled(batch, trip.settled)
    if (trip.claim === null) return
    const { claimed } = trip.claim
    this.#startAll(trip.claim, trip.sentAt, mark)
    const mayBeMore = claimed.length >= limit || (claimed.length > 0 && this.#suspects.areSought)
    const idle = mayBeMore ? null : idleAfter(trip.claim, mark, this.clock)
    this.#idle = this.#idleAnswers.answered(departure, idle)
  }

  async #call(batch: readonly ActiveExecution[], limit: number): Promise<Trip> {
    const settlements: Settlement[] = []
    for (const { settlement } of batch) if (settlement !== null) settlements.push(settlement)
    const lines = bringLastLines(this.#engine, batch, this.#options.claimant().leaseMs)
    if (lines !== null) await lines
    const sentAt = this.clock.monotonic()
    if (limit === 0) {
      return { settled: await inSettlement(batch, () => this.#engine.settle(settlements)), claim: null, sentAt }
    }
    const request: ClaimRequest = { ...this.#options.claimant(), limit }
    if (settlements.length === 0) {
      return { settled: [], claim: await this.#whateverHealth(request, await this.#engine.claim(request)), sentAt }
    }
    const both = await inSettlement(batch, () => this.#engine.settleAndClaim(settlements, request))
    return { settled: both.settled, claim: await this.#whateverHealth(request, both), sentAt }
  }

  /** With tasks of the actions for which its health does not matter. What was claimed before stands, should that fail. */
  async #whateverHealth(request: ClaimRequest, first: ClaimResult): Promise<ClaimResult> {
    if (first.heldBack === null) return first
    const actions = actionsOfAnyHealth(this.policies.current(), [...this.#options.actions.values()])
    try {
      return await claimedWhateverHealth(this.#engine, request, first, actions)
    } catch (error) {
      this.#options.onError(error)
      return first
    }
  }

  #startAll({ claimed, now }: ClaimResult, sentAt: number, mark: Mark): void {
    const first = claimed[0]
    // Halted meanwhile: the leases are gone, and the sweep brings the tasks back.
    if (first === undefined || this.#mode === 'halted') return
    const receivedAt = this.clock.monotonic()
    const { actions, handlerLog } = this.#options
    for (const one of claimed) {
      const moments = { receivedAt, leaseEndsAt: sentAt + one.leaseUntil - now, mark }
      const execution = new ActiveExecution(one, moments, this)
      // Told to drain while the claim was under way: it goes back untouched.
      if (this.#mode === 'draining') {
        execution.release()
        continue
      }
      if (!this.#suspects.mayBegin(execution)) {
        execution.release(ALONE_REASON)
        continue
      }
      this.active.add(execution)
      this.#deadlines.watch(execution)
      void this.#scopes.run(execution, () => runExecution(execution, actions, handlerLog))
    }
    this.#options.onStarted()
  }

  async #failedTrip(error: unknown, batch: readonly ActiveExecution[], epoch: number): Promise<void> {
    if (isRepriseError(error, 'REPRISE_WORKER_FENCED')) {
      this.#outbox = [...batch, ...this.#outbox]
      this.#options.onFenced(epoch)
      return sleep(this.clock, FENCED_MS)
    }
    if (isRepriseError(error, 'REPRISE_STORE_CLOSED') || isRepriseError(error, 'REPRISE_STORE_DAMAGED')) {
      this.#options.onFatal(error)
      return
    }
    if (batch.length > 0 && isRefusal(error)) return this.#settleSingly(batch)
    this.#outbox = [...batch, ...this.#outbox]
    if (isRepriseError(error, 'REPRISE_NOT_FOUND') && (await this.#registeredAgain())) return
    this.#options.onError(error)
    await sleep(this.clock, backoffMs(ERROR_BACKOFF, this.#errorsInRow++, this.random.next()))
  }

  async #registeredAgain(): Promise<boolean> {
    try {
      await this.#options.onUnknown()
      return true
    } catch (error) {
      this.#options.onError(error)
      return false
    }
  }

  /** The store refuses this batch for what is in it: one bad settlement must not hold up the others. */
  async #settleSingly(batch: readonly ActiveExecution[]): Promise<void> {
    for (const [index, execution] of batch.entries()) {
      try {
        const { settled } = await this.#call([execution], 0)
        this.#options.settlementLog.settled([execution], settled)
      } catch (error) {
        this.#options.onError(error)
        if (isRefusal(error)) continue
        this.#outbox = [...batch.slice(index), ...this.#outbox]
        return
      }
    }
  }

  /** Until a handler ends or somebody calls; and, with room for more, until there may be something to claim. */
  async #untilNeeded(): Promise<void> {
    const idle = this.#idle
    if (idle === null || this.#mode !== 'claiming' || this.#trips.size > 0) return this.#wakeUp.wait()
    const called = new AbortController()
    let isOver = false
    const look = (): void => {
      if (isOver) return
      this.#idle = null
      this.#wakeUp.call()
    }
    const { pools, actions, worker: inbox } = this.#options.claimant()
    const wait = { pools, actions, inbox, clock: this.clock, signal: called.signal }
    // If waiting fails, the claim that follows will say why.
    Promise.try(untilClaimable, this.#engine, idle, wait).then(look, look)
    await this.#wakeUp.wait()
    isOver = true
    called.abort()
  }
}
