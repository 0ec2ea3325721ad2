// The launch service of one launch pool: takes slots, claims as many tasks and sends each through the funnel. It also takes
// in messages of an outside queue, by the same way. What was launched is looked after by the reconciliation.

import {
  BATCH_MAX,
  type Engine,
  isRepriseError,
  messageAttempt,
  NoAvailableSlotError,
  type Service,
  type TaskSpec,
} from '@reprise/core'
import { type Claim, Claimant, serviceId } from './claimant.ts'
import { LaunchFunnel, voidAtOf } from './launch-funnel.ts'
import type { LaunchLedger } from './launch-ledger.ts'
import { type LaunchOptions, type LaunchSettings, launchSettings } from './launch-settings.ts'
import { openLeaseCredentials } from './lease-credentials.ts'
import { createLoop, type Run } from './service.ts'

/** A message of an outside queue that asks for one attempt. */
export interface LaunchMessage {
  readonly task: TaskSpec
  /** Whatever the message says; anything but a positive whole number counts as 1 (A6). */
  readonly attempt: unknown
  /** If the launch fails, the store leaves the task to the message for this long before it tries by itself. */
  readonly putOffMs?: number
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

/** How long a heartbeat is put off while there is no free slot. */
const FULL_MS = 1_000
/** Launches at once: starting a worker is dear, and what waits meanwhile can be claimed by others. */
const LAUNCHES_AT_ONCE = 50

export function createLaunch(options: LaunchOptions): LaunchService {
  const settings = launchSettings(options, 'launch service', 'createLaunch')
  const { engine, ledger, clock, leaseMs, maxRetries, systemMonotonic, log } = settings
  const worker = serviceId('launcher', options.id)
  const funnel = new LaunchFunnel(settings, worker)
  const service = createLoop('launch', settings, () => {
    return new LaunchRun(settings, funnel, new Claimant(worker, settings))
  })
  return {
    ...service,
    async receive({ task, attempt, putOffMs = 0 }) {
      const credentials = await openLeaseCredentials(engine, clock)
      if (ledger.isHeldOff(clock.monotonic())) throw noRoom(ledger)
      await ledger.acquireOne()
      const sentAt = systemMonotonic()
      const request = { task, attempt: messageAttempt(attempt), maxRetries, worker, leaseMs, stage: 'launch' } as const
      let claimed: Awaited<ReturnType<Engine['reserve']>>
      try {
        claimed = await engine.reserve(request)
      } catch (error) {
        ledger.giveBack(1)
        if (isRepriseError(error, 'REPRISE_DUPLICATE_EXECUTION')) return 'duplicate'
        if (!isRepriseError(error, 'REPRISE_BUDGET_EXHAUSTED')) throw error
        log.warn(`A message for ${task.action} was dropped.`, { task: task.id, attempt: request.attempt, error })
        return 'dropped'
      }
      const voidAt = voidAtOf(claimed, claimed.startedAt, sentAt)
      const storeNow = claimed.startedAt
      const reservation = { claimed, credential: credentials.issue(claimed), storeNow, voidAt, putOffMs }
      const outcome = await funnel.launch(reservation, new AbortController().signal)
      if (outcome === 'no_room') throw noRoom(ledger)
      return outcome === 'launched' ? 'launched' : 'launch_failed'
    },
  }
}

const noRoom = ({ pool, slots }: LaunchLedger): Error =>
  new NoAvailableSlotError(`pool '${pool}' on its platform`, slots)

class LaunchRun implements Run {
  readonly #settings: LaunchSettings
  readonly #funnel: LaunchFunnel
  readonly #claimant: Claimant
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(settings: LaunchSettings, funnel: LaunchFunnel, claimant: Claimant) {
    this.#settings = settings
    this.#funnel = funnel
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
    const { engine, ledger, clock, leaseMs, systemMonotonic } = this.#settings
    // Before the claim: what could not be handed out must not be taken.
    const credentials = await openLeaseCredentials(engine, clock)
    const limit = Math.min(ledger.freeAt(clock.monotonic()), LAUNCHES_AT_ONCE - this.#underWay.size, BATCH_MAX)
    if (signal.aborted) return null
    if (limit <= 0) {
      await ledger.freed.waitFor(clock, FULL_MS, signal)
      return null
    }
    const { worker } = this.#claimant
    const pools = [ledger.pool]
    ledger.acquire(limit)
    let begun = 0
    try {
      const sentAt = systemMonotonic()
      const result = await engine.claim({ worker, epoch, pools, actions: null, limit, leaseMs, stage: 'launch' })
      for (const claimed of result.claimed) {
        begun++
        const voidAt = voidAtOf(claimed, result.now, sentAt)
        const credential = credentials.issue(claimed)
        this.#watch(this.#funnel.launch({ claimed, credential, storeNow: result.now, voidAt, putOffMs: 0 }, signal))
      }
      return { result, limit }
    } finally {
      ledger.giveBack(limit - begun)
    }
  }

  #watch(launch: Promise<unknown>): void {
    const watched = launch.finally(() => {
      this.#underWay.delete(watched)
      this.#settings.ledger.tellFreed()
    })
    this.#underWay.add(watched)
  }
}
