// The one way from a reservation to a running worker (A7): launch, then note what the launcher knows it by. A launch that
// fails leaves nothing behind: the reservation is deleted, the slot is free, and the task comes again later (A3); only if
// that happens time after time does the attempt count as failed. A platform without room is no failure: the pool waits. A crash in between is found by the reconciliation (A15).

import {
  backoffMs,
  type Claimed,
  failed,
  isRepriseError,
  type Judgement,
  judgeThrown,
  type Launched,
  type LaunchOrder,
  type LaunchRef,
  type LeaseRef,
  type LeaseToken,
  launchKey,
  mayStart,
  messageOf,
  outcomeRequest,
  released,
  type Settlement,
  type WorkerId,
} from '@reprise/core'
import { boundedCall } from './bounded-call.ts'
import { launchOf } from './launch-ledger.ts'
import type { LaunchSettings } from './launch-settings.ts'
import { LauncherCalls } from './launcher-calls.ts'

/** A reservation, and until when nobody else can have it. */
export interface Reservation {
  readonly claimed: Claimed
  /** What its worker gets in place of the token. */
  readonly credential: string
  /** The store's time in the answer that brought it. */
  readonly storeNow: number
  /** A moment of the system-wide monotonic clock. */
  readonly voidAt: number
  /** After a failed launch the store waits for at least this long. */
  readonly putOffMs: number
}

/** Nothing is started so shortly before the lease ends. */
const VOID_MARGIN_MS = 1_000
/** How long after its order is void a launch is waited for: its launcher should have thrown by then. */
const OVERDUE_MS = 100
/** How long after a stop. */
const AFTER_STOP_MS = 3_000
const MESSAGE_LENGTH_MAX = 500

/** `sentAt` is when the reservation was asked for: the lease can't have begun earlier. */
export function voidAtOf(claimed: Pick<Claimed, 'leaseUntil'>, storeNow: number, sentAt: number): number {
  const leaseMs = claimed.leaseUntil - storeNow
  return sentAt + leaseMs - Math.min(VOID_MARGIN_MS, leaseMs / 4)
}

/** Whether a worker runs now. `no_room`: the launcher's platform has none for it. */
export type FunnelOutcome = 'launched' | 'failed' | 'no_room'

export class LaunchFunnel {
  readonly #settings: LaunchSettings
  readonly #worker: WorkerId
  readonly #calls: LauncherCalls

  constructor(settings: LaunchSettings, worker: WorkerId) {
    this.#settings = settings
    this.#worker = worker
    this.#calls = new LauncherCalls(settings)
  }

  /** Takes a slot that was acquired. Never throws: what goes wrong is put in order here. */
  async launch(reservation: Reservation, stop: AbortSignal): Promise<FunnelOutcome> {
    const { claimed, storeNow } = reservation
    const { ledger, at } = this.#settings
    const key = launchKey(claimed)
    ledger.begin(key)
    try {
      await at('reserved', key)
      const tooLate = mayStart(this.#settings.policies.current(), claimed, storeNow)
      if (tooLate !== null) {
        await this.#settings.engine.settle([failedBy(claimed, tooLate)])
        return 'failed'
      }
      let handle: string | null = null
      try {
        const launched = await this.#launch(claimed, orderOf(reservation, key), stop)
        if (launched === 'stopped') return 'failed'
        handle = launched.handle
      } catch (error) {
        // Somebody launched it before, under this very key: look() will say what became of it.
        if (!isRepriseError(error, 'REPRISE_DUPLICATE_EXECUTION')) {
          await this.#takeBack(reservation, error, stop)
          return isRepriseError(error, 'REPRISE_NO_AVAILABLE_SLOT') ? 'no_room' : 'failed'
        }
      }
      await at('launched', key)
      ledger.started(key, launchOf(claimed, this.#worker, handle))
      await this.#note(claimed, key, handle)
      await at('noted', key)
      ledger.hasRoom()
      return 'launched'
    } catch (error) {
      // What was started, if anything, stands in the ledger, or is found in the store's list.
      this.#report('A launch was not noted; the reconciliation will.', claimed, error)
      return ledger.get(key) === undefined ? 'failed' : 'launched'
    } finally {
      if (ledger.isLaunching(key)) ledger.done(key)
    }
  }

  /** Waits until the order is void, and not much longer. */
  async #launch(claimed: Claimed, order: LaunchOrder, stop: AbortSignal): Promise<Launched | 'stopped'> {
    const { launcher, clock, systemMonotonic, log } = this.#settings
    let isAwaited = true
    const withinMs = Math.max(order.voidAt - systemMonotonic(), 0) + OVERDUE_MS
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
    const words = `The launch of ${claimed.snapshot.action} was under way at the stop`
    log.warn(`${words}; the reconciliation will find its outcome.`, about(claimed))
    return 'stopped'
  }

  /** Nobody waits for it any more: its attempt is somebody else's. */
  async #endLate(claimed: Claimed, ref: LaunchRef): Promise<void> {
    try {
      const words = `The launch of ${claimed.snapshot.action} came back too late; its worker is ended.`
      this.#settings.log.warn(words, { task: claimed.taskId, ...ref })
      await this.#calls.end(ref, this.#settings.endGraceMs)
      await this.#calls.forget(ref)
    } catch (error) {
      this.#report('A worker that was started too late could not be ended.', claimed, error)
    }
  }

  async #note(claimed: Claimed, key: string, handle: string | null): Promise<void> {
    if (handle === null) return
    const { engine, ledger, leaseMs, endGraceMs, log } = this.#settings
    const [result] = await engine.renew([{ ...refOf(claimed), progress: null, handle }], leaseMs)
    if (result?.outcome !== 'superseded') return
    const words = `${claimed.snapshot.action} lost its lease during the launch; its worker is ended.`
    log.warn(words, { ...about(claimed), because: result.because })
    await this.#calls.end({ key, handle }, endGraceMs)
    await this.#calls.forget({ key, handle })
    ledger.done(key)
  }

  async #takeBack(reservation: Reservation, error: unknown, stop: AbortSignal): Promise<void> {
    const { claimed } = reservation
    const { engine, onError, log } = this.#settings
    if (!stop.aborted) {
      onError(error)
      const words = `${claimed.snapshot.action} could not be launched: ${wordsOf(error)}`
      log.warn(words, { ...about(claimed), error })
    }
    try {
      await engine.settle([this.#rollback(reservation, error, stop)])
    } catch (settleError) {
      // The lease ends by itself, and the reconciliation finds that nothing was launched.
      this.#report('A failed launch could not be taken back now.', claimed, settleError)
    }
  }

  #rollback(reservation: Reservation, error: unknown, stop: AbortSignal): Settlement {
    const { claimed, storeNow: now, putOffMs } = reservation
    const { policies, random, clock, ledger, backoff, maxLaunchFailures } = this.#settings
    const ref = refOf(claimed)
    if (stop.aborted) return released(ref, 'The orchestrator stopped before it was launched.')
    if (isRepriseError(error, 'REPRISE_NO_AVAILABLE_SLOT')) {
      // The task has nothing to do with it: it goes back to where it stood, and nothing counts against it.
      const askedMs = retryAfterMsOf(error)
      const isOneTarget = 'isOneTarget' in error && error.isOneTarget === true
      ledger.holdOff(clock.monotonic(), backoff, isOneTarget ? 0 : askedMs)
      if (!isOneTarget) return released(ref, wordsOf(error))
      // Other tasks of the pool may go elsewhere: this one must not stand before them.
      const delayMs = Math.max(backoffMs(backoff, claimed.deferrals, random.next()), askedMs, putOffMs)
      return released(ref, wordsOf(error), { delayMs, reason: 'worker_unavailable' })
    }
    const asked = outcomeRequest(error)
    if (asked?.says === 'dead' || claimed.deferrals + 1 >= maxLaunchFailures) {
      const judgement = judgeThrown(policies.current(), claimed, error, { now, roll: random.next() })
      return failedBy(claimed, judgement)
    }
    const usualMs = backoffMs(backoff, claimed.deferrals, random.next())
    const delayMs = Math.max(usualMs, asked?.retryAfterMs ?? 0, putOffMs)
    const words = `Launch ${claimed.deferrals + 1} of ${maxLaunchFailures} failed: ${wordsOf(error)}`
    return released(ref, words, { delayMs, reason: 'worker_unavailable' })
  }

  #report(message: string, claimed: Claimed, error: unknown): void {
    this.#settings.log.warn(message, { ...about(claimed), error })
    this.#settings.onError(error)
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

const about = ({ taskId, attempt }: LeaseRef) => ({ task: taskId, attempt })

export const refOf = ({ taskId, attempt, token }: LeaseRef): LeaseRef => ({ taskId, attempt, token })

const failedBy = (claimed: Claimed, { failure, decision, guards }: Judgement): Settlement =>
  failed(refOf(claimed), failure, decision, guards)

const retryAfterMsOf = (error: unknown): number =>
  error instanceof Error && 'retryAfterMs' in error && typeof error.retryAfterMs === 'number' ? error.retryAfterMs : 0

const wordsOf = (error: unknown): string => messageOf(error).slice(0, MESSAGE_LENGTH_MAX).toWellFormed()
