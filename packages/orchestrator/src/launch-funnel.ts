// The one way from a reservation to a running worker (A7): launch, then note what the launcher knows it by. A launch that
// fails leaves nothing behind: the reservation is deleted, the slot is free, and the task comes again later (A3); only if
// that happens time after time does the attempt count as failed. A crash in between is found by the reconciliation (A15).

import {
  type Backoff,
  backoffMs,
  type Claimed,
  type Engine,
  failed,
  isRepriseError,
  type Judgement,
  judgeThrown,
  type Launched,
  type Launcher,
  type LaunchOrder,
  type LaunchRef,
  type LeaseRef,
  type LeaseToken,
  mayStart,
  outcomeRequest,
  type PolicySource,
  released,
  type Settlement,
  type WorkerId,
} from '@reprise/core'
import { boundedCall } from './bounded-call.ts'
import { keyOf, type LaunchLedger, launchOf } from './launch-ledger.ts'
import { LauncherCalls } from './launcher-calls.ts'
import type { Surroundings } from './service.ts'

/** Moments at which a test may let the process crash. */
export type LaunchPoint = 'reserved' | 'launched' | 'noted'
export type AtLaunchPoint = (point: LaunchPoint, key: string) => void | Promise<void>

export interface FunnelOptions extends Surroundings {
  readonly engine: Engine
  readonly launcher: Launcher
  readonly ledger: LaunchLedger
  readonly policies: PolicySource
  readonly worker: WorkerId
  readonly leaseMs: number
  readonly backoff: Backoff
  /** How many launches of one attempt may fail before the attempt does. */
  readonly launchFailuresMax: number
  readonly endGraceMs: number
  /** The system-wide monotonic clock, in ms. */
  readonly monotonic: () => number
  readonly at: AtLaunchPoint
}

/** A reservation, and until when nobody else can have it. */
export interface Reservation {
  readonly claimed: Claimed
  /** What its worker gets in place of the token. */
  readonly credential: string
  /** The store's time in the answer that brought it. */
  readonly storeNow: number
  /** A moment of the system-wide monotonic clock. */
  readonly voidAt: number
}

/** Nothing is started so shortly before the lease ends. */
const VOID_MARGIN_MS = 1_000
/** How long after its order is void a launch is waited for: its launcher should have thrown by then. */
const OVERDUE_MS = 100
/** How long after a stop. */
const AFTER_STOP_MS = 3_000

/** `sentAt` is when the reservation was asked for: the lease can't have begun earlier. */
export function voidAtOf(claimed: Pick<Claimed, 'leaseUntil'>, storeNow: number, sentAt: number): number {
  const leaseMs = claimed.leaseUntil - storeNow
  return sentAt + leaseMs - Math.min(VOID_MARGIN_MS, leaseMs / 4)
}

export class LaunchFunnel {
  readonly #options: FunnelOptions
  readonly #calls: LauncherCalls

  constructor(options: FunnelOptions) {
    this.#options = options
    this.#calls = new LauncherCalls(options)
  }

  /** Takes a slot that was acquired. Says whether a worker runs now. Never throws: what goes wrong is put in order here. */
  async launch(reservation: Reservation, stop: AbortSignal): Promise<boolean> {
    const { claimed, storeNow } = reservation
    const { ledger, worker, at } = this.#options
    const key = keyOf(claimed)
    ledger.begin(key)
    try {
      await at('reserved', key)
      const tooLate = mayStart(this.#options.policies.current(), claimed, storeNow)
      if (tooLate !== null) {
        await this.#options.engine.settle([failedBy(claimed, tooLate)])
        return false
      }
      let handle: string | null = null
      try {
        const launched = await this.#launch(claimed, orderOf(reservation, key), stop)
        if (launched === 'stopped') return false
        handle = launched.handle
      } catch (error) {
        // Somebody launched it before, under this very key: look() will say what became of it.
        if (!isRepriseError(error, 'REPRISE_DUPLICATE_EXECUTION')) {
          await this.#takeBack(claimed, error, storeNow, stop)
          return false
        }
      }
      await at('launched', key)
      ledger.started(key, launchOf(claimed, worker, handle))
      await this.#note(claimed, key, handle)
      await at('noted', key)
      return true
    } catch (error) {
      // What was started, if anything, stands in the ledger, or is found in the store's list.
      this.#report('A launch was not noted; the reconciliation will.', claimed, error)
      return ledger.get(key) !== undefined
    } finally {
      if (ledger.isLaunching(key)) ledger.done(key)
    }
  }

  /** Waits until the order is void, and not much longer. */
  async #launch(claimed: Claimed, order: LaunchOrder, stop: AbortSignal): Promise<Launched | 'stopped'> {
    const { launcher, clock, monotonic, log } = this.#options
    let isAwaited = true
    const withinMs = Math.max(order.voidAt - monotonic(), 0) + OVERDUE_MS
    const call = async (signal: AbortSignal): Promise<Launched> => {
      const launched = await launcher.launch(order, signal)
      if (!isAwaited) await this.#endLate(claimed, { key: order.key, handle: launched.handle })
      return launched
    }
    const answer = await boundedCall(call, { clock, withinMs, stop, afterStopMs: AFTER_STOP_MS })
    if (answer.kind === 'answered') return answer.value
    isAwaited = false
    if (answer.kind === 'too_late') {
      throw new Error(`Launcher '${launcher.name}' neither started a worker nor gave up before the order was void.`)
    }
    // It may still start one, so that nobody else may try before the lease has ended.
    log.warn(
      `The launch of ${claimed.snapshot.action} was under way at the stop; the reconciliation will find its outcome.`,
      {
        task: claimed.taskId,
        attempt: claimed.attempt,
      },
    )
    return 'stopped'
  }

  /** Nobody waits for it any more: its attempt is somebody else's. */
  async #endLate(claimed: Claimed, ref: LaunchRef): Promise<void> {
    try {
      const words = `The launch of ${claimed.snapshot.action} came back too late; its worker is ended.`
      this.#options.log.warn(words, { task: claimed.taskId, ...ref })
      await this.#calls.end(ref, this.#options.endGraceMs)
      await this.#calls.forget(ref)
    } catch (error) {
      this.#report('A worker that was started too late could not be ended.', claimed, error)
    }
  }

  async #note(claimed: Claimed, key: string, handle: string | null): Promise<void> {
    if (handle === null) return
    const { engine, ledger, leaseMs, endGraceMs, log } = this.#options
    const [result] = await engine.renew([{ ...refOf(claimed), progress: null, handle }], leaseMs)
    if (result?.outcome !== 'superseded') return
    log.warn(`${claimed.snapshot.action} lost its lease during the launch; its worker is ended.`, {
      task: claimed.taskId,
      attempt: claimed.attempt,
      because: result.because,
    })
    await this.#calls.end({ key, handle }, endGraceMs)
    await this.#calls.forget({ key, handle })
    ledger.done(key)
  }

  async #takeBack(claimed: Claimed, error: unknown, storeNow: number, stop: AbortSignal): Promise<void> {
    const { engine, onError, log } = this.#options
    if (!stop.aborted) {
      onError(error)
      const words = `${claimed.snapshot.action} could not be launched: ${messageOf(error)}`
      log.warn(words, { task: claimed.taskId, attempt: claimed.attempt, error })
    }
    try {
      await engine.settle([this.#rollback(claimed, error, storeNow, stop)])
    } catch (settleError) {
      // The lease ends by itself, and the reconciliation finds that nothing was launched.
      this.#report('A failed launch could not be taken back now.', claimed, settleError)
    }
  }

  #rollback(claimed: Claimed, error: unknown, now: number, stop: AbortSignal): Settlement {
    const { policies, random, backoff, launchFailuresMax } = this.#options
    const ref = refOf(claimed)
    if (stop.aborted) return released(ref, 'The orchestrator stopped before it was launched.')
    const asked = outcomeRequest(error)
    if (asked?.says === 'dead' || claimed.deferrals + 1 >= launchFailuresMax) {
      const judgement = judgeThrown(policies.current(), claimed, error, { now, roll: random.next() })
      return failedBy(claimed, judgement)
    }
    const delayMs = Math.max(backoffMs(backoff, claimed.deferrals, random.next()), asked?.retryAfterMs ?? 0)
    const words = `Launch ${claimed.deferrals + 1} of ${launchFailuresMax} failed: ${messageOf(error)}`
    return released(ref, words, { delayMs, reason: 'worker_unavailable' })
  }

  #report(message: string, { taskId, attempt }: Claimed, error: unknown): void {
    this.#options.log.warn(message, { task: taskId, attempt, error })
    this.#options.onError(error)
  }
}

function orderOf({ claimed, credential, voidAt }: Reservation, key: string): LaunchOrder {
  const { taskId, attempt, snapshot } = claimed
  // Whatever leaves these processes is a credential; the launcher compares it and passes it on, and knows no other.
  const token = credential as LeaseToken
  const { action, tenant, payload, labels, retryToken, settings } = snapshot
  const { timeoutMs } = settings
  return { key, taskId, attempt, token, action, tenant, payload, labels, retryToken, timeoutMs, voidAt }
}

export const refOf = ({ taskId, attempt, token }: LeaseRef): LeaseRef => ({ taskId, attempt, token })

const failedBy = (claimed: Claimed, { failure, decision, guards }: Judgement): Settlement =>
  failed(refOf(claimed), failure, decision, guards)

const MESSAGE_LENGTH_MAX = 500

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed()
}

/** Time that every process of this machine reads alike: what an order says it is void by. */
export const systemWideMonotonicMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000
