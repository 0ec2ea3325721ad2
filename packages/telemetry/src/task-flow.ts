// From the answers of the engine to metrics of the domain: what was submitted, claimed, settled and sent back to work by
// this process. It looks at answers only after the store has given them, and what it does must never fail a call.

import type {
  Claimed,
  ClaimRequest,
  Clock,
  Engine,
  Logger,
  Settlement,
  SettleResult,
  SubmitResult,
  TaskStatus,
} from '@reprise/core'
import { CATALOGUE } from './catalogue.ts'
import { type LeaseFact, LeaseFacts } from './lease-facts.ts'
import { type PoolMeters, poolMetersOf, UNKNOWN_POOL } from './pool-meters.ts'
import { counter, type MetricsRegistry } from './registry.ts'
import { retryEvents } from './retry-events.ts'

type Answer<Verb extends keyof Engine> = Engine[Verb] extends (...input: never) => infer R ? Awaited<R> : never
type Input<Verb extends keyof Engine> = Engine[Verb] extends (...input: infer P) => unknown ? P : never

const SUBMIT_OUTCOMES = ['accepted', 'duplicate', 'conflict'] as const satisfies SubmitResult['outcome'][]

/** What is done with an answer, for the verbs that tell something. */
export type Observers = {
  readonly [Verb in keyof Engine]?: (answer: Answer<Verb>, ...input: Input<Verb>) => void
}

export interface TaskFlowOptions {
  readonly registry: MetricsRegistry
  readonly log: Logger
  readonly clock: Clock
  /** How many attempts under way are kept in mind; 0 if the callers that settle bring along what they claimed. */
  readonly maxLeases?: number
}

export function taskFlow({ registry, log, clock, maxLeases }: TaskFlowOptions): Observers {
  const metersOf = poolMetersOf(registry)
  const facts = new LeaseFacts(metersOf, maxLeases)
  const retries = retryEvents(registry, log)
  const claims = counter(registry, CATALOGUE.claims)
  const superseded = counter(registry, CATALOGUE.refused)
  /** The store's time less this process's monotonic one, as the last answer with a time in it had them. */
  let offset: number | null = null
  const storeNow = (): number => (offset === null ? clock.now() : clock.monotonic() + offset)

  const submitted: Observers['submit'] = (results, tasks) => {
    const counts = new Map<PoolMeters, Record<SubmitResult['outcome'], number>>()
    for (const [index, { pool }] of tasks.entries()) {
      const result = results[index]
      if (result === undefined) continue
      const meters = metersOf(pool)
      const count = counts.get(meters) ?? { accepted: 0, duplicate: 0, conflict: 0 }
      count[result.outcome]++
      counts.set(meters, count)
    }
    for (const [meters, count] of counts) {
      for (const outcome of SUBMIT_OUTCOMES) if (count[outcome] > 0) meters.submitted(outcome, count[outcome])
    }
  }

  /** Under a dispatcher an attempt has no worker yet: the worker that collects it starts it. */
  const started = (claimed: readonly Claimed[], now: number, isOnlyDispatch: boolean): void => {
    offset = now - clock.monotonic()
    for (const one of claimed) {
      facts.claimed(one)
      if (one.attempt === 1 && one.retryReason === null && !isOnlyDispatch) {
        metersOf(one.snapshot.pool).waited(Math.max(one.startedAt - one.acceptedAt, 0) / 1_000)
      }
    }
  }

  const claimed = ({ claimed: all, heldBack, now }: Answer<'claim'>, { stage }: ClaimRequest): void => {
    claims.inc({ held_back: heldBack ?? 'no' })
    started(all, now, stage === 'dispatch')
  }

  const settled = (results: readonly SettleResult[], settlements: readonly Settlement[]): void => {
    const now = storeNow()
    // Successes are most of all, and mostly of one pool: counted in runs.
    let meters: PoolMeters | null = null
    let successes = 0
    for (let index = 0; index < settlements.length; index++) {
      const settlement = settlements[index]
      const result = results[index]
      if (settlement === undefined || result === undefined) continue
      const isRepeated = result.outcome === 'settled' && result.repeated
      const fact = facts.take(settlement, isRepeated)
      if (result.outcome === 'superseded') {
        superseded.inc({ because: result.because })
        continue
      }
      // An answer that is repeated was counted with the first, unless that never came through: then the attempt is still known.
      if (isRepeated && fact === undefined) continue
      if (settlement.kind !== 'succeeded') {
        ended(settlement, result.status, fact, now)
        continue
      }
      const own = fact?.meters ?? metersOf(UNKNOWN_POOL)
      if (own !== meters) {
        meters?.ends.succeeded.count(successes)
        meters = own
        successes = 0
      }
      successes++
      if (fact !== undefined) own.ends.succeeded.lasted(secondsOf(fact, now))
      if (settlement.ref.attempt > 1) retries.retrySucceeded(fact)
    }
    if (successes > 0) meters?.ends.succeeded.count(successes)
  }

  const ended = (
    settlement: Exclude<Settlement, { kind: 'succeeded' }>,
    status: TaskStatus,
    fact: LeaseFact | undefined,
    now: number,
  ): void => {
    const { kind } = settlement
    const ends = (fact?.meters ?? metersOf(UNKNOWN_POOL)).ends[kind === 'expired' ? 'failed' : kind]
    ends.count(1)
    if (fact !== undefined && fact.startedAt !== null) ends.lasted(secondsOf(fact, now))
    if (kind !== 'released') retries.endedBadly({ settlement, status, fact, now })
  }

  return {
    submit: submitted,
    claim: claimed,
    reserve: (one) => started([one], one.startedAt, false),
    settle: settled,
    settleAndClaim(result, settlements, request) {
      settled(result.settled, settlements)
      claimed(result, request)
    },
    expired({ overdue, now }) {
      offset = now - clock.monotonic()
      for (const item of overdue) facts.overdue(item)
    },
    retry: ({ outcome }) => retries.byOperator(outcome === 'queued' ? 1 : 0, UNKNOWN_POOL),
    change({ changed }, { kind, select }) {
      const pool = 'ids' in select ? undefined : select.pool
      if (kind === 'redrive')
        retries.byOperator(changed.length, pool === undefined ? UNKNOWN_POOL : metersOf(pool).pool)
    },
  }
}

const secondsOf = ({ startedAt }: LeaseFact, now: number): number => Math.max(now - (startedAt ?? now), 0) / 1_000
