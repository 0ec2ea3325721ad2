// The launch service of one launch pool: takes slots, claims as many tasks and sends each through the funnel. It also takes
// in messages of an outside queue, by the same way. What was launched is looked after by the reconciliation.

import {
  BATCH_MAX,
  type Backoff,
  DEFAULT_MAX_RETRIES,
  type Engine,
  isRepriseError,
  type Launcher,
  messageAttempt,
  type PolicySource,
  type Service,
  type TaskSpec,
  withoutPolicies,
} from '@reprise/core'
import { type Claim, Claimant, serviceId } from './claimant.ts'
import { checkLaunchOptions } from './launch-checks.ts'
import { type AtLaunchPoint, LaunchFunnel, systemWideMonotonicMs, voidAtOf } from './launch-funnel.ts'
import type { LaunchLedger } from './launch-ledger.ts'
import { openLeaseCredentials } from './lease-credentials.ts'
import { createLoop, type Run, type ServiceOptions, type Surroundings, surroundings } from './service.ts'

export interface LaunchOptions extends ServiceOptions {
  readonly engine: Engine
  readonly launcher: Launcher
  /** The pool and its slots, shared with the reconciliation of the same pool. */
  readonly ledger: LaunchLedger
  readonly policies?: PolicySource | undefined
  /** 15 s if not given. */
  readonly leaseMs?: number
  /** How long a task is put off whose launch failed, by how often that happened. */
  readonly backoff?: Backoff
  /** How many launches of one attempt may fail before the attempt does; 10 if not given. */
  readonly launchFailuresMax?: number
  /** How long a worker that must end may take; 5 s if not given. */
  readonly endGraceMs?: number
  /** The system-wide monotonic clock, in ms. */
  readonly systemMonotonic?: () => number
  /** For tests that crash the process. */
  readonly at?: AtLaunchPoint
  /** Unique among all workers of the store, or left out. */
  readonly id?: string
}

/** A message of an outside queue that asks for one attempt. */
export interface LaunchMessage {
  readonly task: TaskSpec
  /** Whatever the message says; anything but a positive whole number counts as 1 (A6). */
  readonly attempt: unknown
  /** MAX_RETRIES at this consumer. */
  readonly maxRetries?: number
}

export type MessageOutcome =
  | 'launched'
  /** This attempt was reserved before: nothing is to be done (A2). */
  | 'duplicate'
  /** Above the ceiling: logged and dropped (A6). */
  | 'dropped'
  /** The launch failed and everything was put back: the message should be delivered again (A3). */
  | 'launch_failed'

export interface LaunchService extends Service {
  /** Takes one message through the funnel. Throws NoAvailableSlotError at capacity (A7), and what the store throws. */
  receive(message: LaunchMessage): Promise<MessageOutcome>
}

export const LAUNCH_LEASE_MS = 15_000
const LAUNCH_FAILURES_MAX = 10
export const END_GRACE_MS = 5_000
const LAUNCH_BACKOFF: Backoff = { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 60_000, jitter: 0.2 }
/** How long a heartbeat is put off while there is no free slot. */
const FULL_MS = 1_000
/** Launches at once: starting a worker is dear, and what waits meanwhile can be claimed by others. */
const LAUNCHES_AT_ONCE = 50

export function createLaunch(options: LaunchOptions): LaunchService {
  checkLaunchOptions(options, 'createLaunch')
  const around = surroundings('launch service', options)
  const { engine, launcher, ledger } = options
  const worker = serviceId('launcher', options.id)
  const leaseMs = options.leaseMs ?? LAUNCH_LEASE_MS
  const monotonic = options.systemMonotonic ?? systemWideMonotonicMs
  const funnel = new LaunchFunnel({
    ...around,
    engine,
    launcher,
    ledger,
    worker,
    leaseMs,
    policies: options.policies ?? withoutPolicies,
    backoff: options.backoff ?? LAUNCH_BACKOFF,
    launchFailuresMax: options.launchFailuresMax ?? LAUNCH_FAILURES_MAX,
    endGraceMs: options.endGraceMs ?? END_GRACE_MS,
    monotonic,
    at: options.at ?? (() => undefined),
  })
  const settings = { engine, ledger, around, funnel, leaseMs, monotonic }
  const service = createLoop('launch', around, () => {
    return new LaunchRun(settings, new Claimant(worker, { engine, ...around }))
  })
  return {
    ...service,
    async receive({ task, attempt, maxRetries = DEFAULT_MAX_RETRIES }) {
      const credentials = await openLeaseCredentials(engine)
      await ledger.acquireOne()
      const sentAt = monotonic()
      const number = messageAttempt(attempt)
      const request = { task, attempt: number, maxRetries, worker, leaseMs, stage: 'launch' } as const
      let claimed: Awaited<ReturnType<Engine['reserve']>>
      try {
        claimed = await engine.reserve(request)
      } catch (error) {
        ledger.giveBack(1)
        if (isRepriseError(error, 'REPRISE_DUPLICATE_EXECUTION')) return 'duplicate'
        if (!isRepriseError(error, 'REPRISE_BUDGET_EXHAUSTED')) throw error
        around.log.warn(`A message for ${task.action} was dropped.`, { task: task.id, attempt: request.attempt, error })
        return 'dropped'
      }
      const voidAt = voidAtOf(claimed, claimed.startedAt, sentAt)
      const storeNow = claimed.startedAt
      const reservation = { claimed, credential: credentials.issue(claimed), storeNow, voidAt }
      const launched = await funnel.launch(reservation, new AbortController().signal)
      return launched ? 'launched' : 'launch_failed'
    },
  }
}

interface RunSettings {
  readonly engine: Engine
  readonly ledger: LaunchLedger
  readonly around: Surroundings
  readonly funnel: LaunchFunnel
  readonly leaseMs: number
  readonly monotonic: () => number
}

class LaunchRun implements Run {
  readonly #settings: RunSettings
  readonly #claimant: Claimant
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(settings: RunSettings, claimant: Claimant) {
    this.#settings = settings
    this.#claimant = claimant
  }

  round(signal: AbortSignal): Promise<number> {
    return this.#claimant.round([this.#settings.ledger.pool], (epoch) => this.#claim(epoch, signal), signal)
  }

  async leave(): Promise<void> {
    await Promise.all(this.#underWay)
    await this.#claimant.leave()
  }

  /** Acquire, reserve, launch: in this order, for as many as there is room for. */
  async #claim(epoch: number, signal: AbortSignal): Promise<Claim> {
    const { engine, ledger, around, funnel, leaseMs, monotonic } = this.#settings
    // Before the claim: what could not be handed out must not be taken.
    const credentials = await openLeaseCredentials(engine)
    const limit = Math.min(ledger.free, LAUNCHES_AT_ONCE - this.#underWay.size, BATCH_MAX)
    if (signal.aborted) return null
    if (limit <= 0) {
      await ledger.freed.waitFor(around.clock, FULL_MS, signal)
      return null
    }
    const { worker } = this.#claimant
    const pools = [ledger.pool]
    ledger.acquire(limit)
    let begun = 0
    try {
      const sentAt = monotonic()
      const result = await engine.claim({ worker, epoch, pools, actions: null, limit, leaseMs, stage: 'launch' })
      for (const claimed of result.claimed) {
        begun++
        const voidAt = voidAtOf(claimed, result.now, sentAt)
        const credential = credentials.issue(claimed)
        this.#watch(funnel.launch({ claimed, credential, storeNow: result.now, voidAt }, signal))
      }
      return { result, limit }
    } finally {
      ledger.giveBack(limit - begun)
    }
  }

  #watch(launch: Promise<unknown>): void {
    const watched = launch.finally(() => {
      this.#underWay.delete(watched)
      this.#settings.ledger.freed.call()
    })
    this.#underWay.add(watched)
  }
}
