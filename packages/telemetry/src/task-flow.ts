// From the answers of the engine to metrics of the domain: what was submitted, claimed, settled and sent back to work by
// this process. It looks at answers only after the store has given them, and what it does must never fail a call.

import type { Claimed, Clock, Engine, Logger, Settlement, SettleResult, TaskSpec } from '@reprise/core'
import { type LeaseFact, LeaseFacts } from './lease-facts.ts'
import { type PoolMeters, poolMetersOf, UNKNOWN_POOL } from './pool-meters.ts'
import { counter, type MetricsRegistry } from './registry.ts'
import { RetryEvents } from './retry-events.ts'

type Settled = Extract<SettleResult, { outcome: 'settled' }>
type Answer<Verb extends keyof Engine> = Engine[Verb] extends (...input: never) => infer R ? Awaited<R> : never
type Input<Verb extends keyof Engine> = Engine[Verb] extends (...input: infer P) => unknown ? P : never

/** What is done with an answer, for the verbs that tell something. */
export type Observers = {
  readonly [Verb in keyof Engine]?: (answer: Answer<Verb>, ...input: Input<Verb>) => void
}

export interface TaskFlowOptions {
  readonly registry: MetricsRegistry
  readonly log: Logger
  readonly clock: Clock
  /** How many attempts under way are kept in mind; 0 if the callers that settle bring along what they claimed. */
  readonly leasesMax?: number
}

export function taskFlow(options: TaskFlowOptions): Observers {
  const flow = new TaskFlow(options)
  return {
    submit: (results, tasks) => flow.submitted(tasks, results),
    claim: (result, request) => flow.claimed(result, request.stage === 'dispatch'),
    reserve: (claimed) => flow.started([claimed], claimed.startedAt, false),
    settle: (results, settlements) => flow.settled(settlements, results),
    settleAndClaim: (result, settlements, request) => {
      flow.settled(settlements, result.settled)
      flow.claimed(result, request.stage === 'dispatch')
    },
    expired: (result) => flow.overdue(result),
    retry: (result) => flow.sentBack(result.outcome === 'queued' ? 1 : 0, undefined),
    change: (result, { kind, select }) => {
      if (kind === 'redrive') flow.sentBack(result.changed.length, 'ids' in select ? undefined : select.pool)
    },
  }
}

class TaskFlow {
  readonly #clock: Clock
  readonly #metersOf: (pool: string) => PoolMeters
  readonly #facts: LeaseFacts
  readonly #retries: RetryEvents
  readonly #claims
  readonly #superseded
  /** The store's time less this process's monotonic one, as the last answer with a time in it had them. */
  #offset: number | null = null

  constructor({ registry, log, clock, leasesMax }: TaskFlowOptions) {
    this.#clock = clock
    this.#metersOf = poolMetersOf(registry)
    this.#facts = new LeaseFacts(this.#metersOf, leasesMax)
    this.#retries = new RetryEvents(registry, log)
    this.#claims = counter(registry, 'claims')
    this.#superseded = counter(registry, 'refused')
  }

  submitted(tasks: readonly TaskSpec[], results: Answer<'submit'>): void {
    const counts = new Map<PoolMeters, { accepted: number; duplicate: number }>()
    for (const [index, { pool }] of tasks.entries()) {
      const result = results[index]
      if (result === undefined) continue
      const meters = this.#metersOf(pool)
      const count = counts.get(meters) ?? { accepted: 0, duplicate: 0 }
      count[result.outcome]++
      counts.set(meters, count)
    }
    for (const [meters, { accepted, duplicate }] of counts) {
      if (accepted > 0) meters.submitted('accepted', accepted)
      if (duplicate > 0) meters.submitted('duplicate', duplicate)
    }
  }

  claimed({ claimed, heldBack, now }: Answer<'claim'>, isOnlyDispatch: boolean): void {
    this.#claims.inc({ held_back: heldBack ?? 'no' })
    this.started(claimed, now, isOnlyDispatch)
  }

  /** Under a dispatcher an attempt has no worker yet: the worker that collects it starts it. */
  started(claimed: readonly Claimed[], now: number, isOnlyDispatch: boolean): void {
    this.#offset = now - this.#clock.monotonic()
    for (const one of claimed) {
      this.#facts.claimed(one)
      if (one.attempt === 1 && one.retryReason === null && !isOnlyDispatch) {
        this.#metersOf(one.snapshot.pool).waited(Math.max(one.startedAt - one.acceptedAt, 0) / 1_000)
      }
    }
  }

  overdue({ overdue, now }: Answer<'expired'>): void {
    this.#offset = now - this.#clock.monotonic()
    for (const item of overdue) this.#facts.overdue(item)
  }

  settled(settlements: readonly Settlement[], results: readonly SettleResult[]): void {
    const now = this.#storeNow()
    // Successes are most of all, and mostly of one pool: counted in runs.
    let meters: PoolMeters | null = null
    let successes = 0
    for (let index = 0; index < settlements.length; index++) {
      const settlement = settlements[index]
      const result = results[index]
      if (settlement === undefined || result === undefined) continue
      const isRepeated = result.outcome === 'settled' && result.repeated
      const fact = this.#facts.take(settlement, isRepeated)
      if (result.outcome === 'superseded') {
        this.#superseded.inc({ because: result.because })
        continue
      }
      // An answer that is repeated was counted with the first, unless that never came through: then the attempt is still known.
      if (isRepeated && fact === undefined) continue
      if (settlement.kind !== 'succeeded') {
        this.#ended(settlement, result, fact, now)
        continue
      }
      const own = fact?.meters ?? this.#metersOf(UNKNOWN_POOL)
      if (own !== meters) {
        meters?.ends.succeeded.count(successes)
        meters = own
        successes = 0
      }
      successes++
      if (fact !== undefined) own.ends.succeeded.lasted(secondsOf(fact, now))
      if (settlement.ref.attempt > 1) this.#retries.retrySucceeded(fact)
    }
    if (successes > 0) meters?.ends.succeeded.count(successes)
  }

  sentBack(count: number, pool: string | undefined): void {
    this.#retries.byOperator(count, pool === undefined ? UNKNOWN_POOL : this.#metersOf(pool).pool)
  }

  #ended(
    settlement: Exclude<Settlement, { kind: 'succeeded' }>,
    { status }: Settled,
    fact: LeaseFact | undefined,
    now: number,
  ): void {
    const { kind } = settlement
    const ends = (fact?.meters ?? this.#metersOf(UNKNOWN_POOL)).ends[kind === 'expired' ? 'failed' : kind]
    ends.count(1)
    if (fact !== undefined && fact.startedAt !== null) ends.lasted(secondsOf(fact, now))
    if (kind !== 'released') this.#retries.endedBadly({ settlement, status, fact, now })
  }

  #storeNow(): number {
    return this.#offset === null ? this.#clock.now() : this.#clock.monotonic() + this.#offset
  }
}

const secondsOf = ({ startedAt }: LeaseFact, now: number): number => Math.max(now - (startedAt ?? now), 0) / 1_000
