// Keeps the leases of this process's workers alive while its event loop is blocked: through one thread for all of them,
// which is told who they are and sees by a count whether the event loop runs. Renewal itself stays with each worker, on the
// event loop: while that runs, the thread does nothing. Where there can be no thread, that is all there is.

import { Worker as Thread } from 'node:worker_threads'
import { CLAIMS_NOTHING, type Logger, systemClock, type Timer, type Voucher, type WorkerId } from '@reprise/core'
import type { Culprit } from '../running-now.ts'
import { THREAD } from './thread.ts'

export interface Block {
  readonly ms: number
  /** Null if nobody could tell what ran. */
  readonly culprit: Culprit | null
  /** Why leases could not be renewed meanwhile; null if they could. */
  readonly error: string | null
}

interface BlockReport extends Block {
  /** Those that were vouched for: their heartbeats must correct what the store thinks. */
  readonly workers: readonly WorkerId[]
}

export interface VouchedOptions {
  readonly worker: WorkerId
  readonly leaseMs: number
  readonly voucher: Voucher
  readonly log: Logger
  /** The event loop was blocked, and goes on. */
  readonly onBlock: (block: Block, isVouchedFor: boolean) => void
}

/** What Node says about its parts, it has said for the process already. */
const QUIET = ['--disable-warning=ExperimentalWarning']
const LIMITS = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 4 }
const TICKS_PER_LEASE = 12
const TICK_MS_MIN = 50
const TICK_MS_MAX = 500
const NO_THREAD =
  'There is no thread to renew leases while the event loop is blocked: handlers that block it lose them.'

/** Of all workers in this process. */
const members = new Map<WorkerId, Vouched>()
let thread: ThreadAtWork | null = null

interface ThreadAtWork {
  readonly thread: Thread
  readonly everyMs: number
  tick: Timer
}

/** After the last worker has left: the next one may come soon. */
const LINGER_MS = 5_000
let lingering: Timer | null = null

/** One worker, while it is vouched for. */
export class Vouched {
  readonly #options: VouchedOptions
  /** From when on and until when leases were vouched for without a gap, in nanoseconds; both 0 if they never were. */
  readonly #span = new BigInt64Array(new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT))
  #epoch: number | null = null

  constructor(options: VouchedOptions) {
    this.#options = options
  }

  get leaseMs(): number {
    return this.#options.leaseMs
  }

  /** From now on, under this epoch. */
  as(epoch: number): void {
    this.#epoch = epoch
    if (members.get(this.#options.worker) === this && thread !== null) this.tell(thread.thread)
  }

  /** The thread may still be starting afterwards. It needs nothing of the event loop for that, should the first handler block. */
  join(): void {
    members.set(this.#options.worker, this)
    lingering?.cancel()
    if (thread === null || tickMs(this.leaseMs) < thread.everyMs) startThread()
  }

  /**
   * When a lease ends that would end then, on the monotonic clock: later, if it was vouched for. A lease that had ended
   * before the first vouch was not renewed by it, even if others of this worker were.
   */
  leaseEnd(endsAt: number): number {
    const until = Atomics.load(this.#span, 1)
    if (until === 0n) return endsAt
    const from = Atomics.load(this.#span, 0)
    const offset = systemClock.monotonic() - milliseconds(process.hrtime.bigint())
    return endsAt < milliseconds(from) + offset ? endsAt : Math.max(endsAt, milliseconds(until) + offset)
  }

  stop(): void {
    // Another worker of this process may have taken the id.
    if (members.get(this.#options.worker) !== this) return
    members.delete(this.#options.worker)
    thread?.thread.postMessage({ kind: 'leave', id: this.#options.worker })
    if (members.size > 0) return
    lingering = systemClock.after(LINGER_MS, () => {
      if (members.size === 0) endThread()
    })
  }

  tell(to: Thread): void {
    const { worker: id, leaseMs, voucher } = this.#options
    to.postMessage({ kind: 'worker', id, epoch: this.#epoch, leaseMs, voucher, vouched: this.#span.buffer })
  }

  blocked({ workers, ...block }: BlockReport): void {
    this.#options.onBlock(block, workers.includes(this.#options.worker))
  }

  warn(error: unknown): void {
    this.#options.log.warn(NO_THREAD, { worker: this.#options.worker, error })
  }
}

/** Of the time that both threads read alike, unlike the time since each of them began. */
const milliseconds = (nanoseconds: bigint): number => Number(nanoseconds / 1_000n) / 1_000

const tickMs = (leaseMs: number): number =>
  Math.min(Math.max(Math.floor(leaseMs / TICKS_PER_LEASE), TICK_MS_MIN), TICK_MS_MAX)

/** One that looks as often as the shortest lease needs. */
function startThread(): void {
  endThread()
  const shortest = Math.min(...Array.from(members.values(), ({ leaseMs }) => leaseMs))
  const everyMs = tickMs(shortest)
  const count = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const ticks = new Int32Array(count)
  try {
    const started = new Thread(THREAD, {
      eval: true,
      workerData: { count, everyMs, prefix: CLAIMS_NOTHING },
      execArgv: QUIET,
      resourceLimits: LIMITS,
    })
    const tick = (): Timer =>
      systemClock.after(everyMs, () => {
        Atomics.add(ticks, 0, 1)
        if (thread?.thread === started) thread.tick = tick()
      })
    thread = { thread: started, everyMs, tick: tick() }
    started.on('message', (message: BlockReport) => {
      for (const member of members.values()) member.blocked(message)
    })
    started.on('error', (error) => {
      if (thread?.thread !== started) return
      thread = null
      for (const member of members.values()) member.warn(error)
    })
    for (const member of members.values()) member.tell(started)
    // Last: each listener that is added makes it hold the process again.
    started.unref()
  } catch (error) {
    for (const member of members.values()) member.warn(error)
  }
}

function endThread(): void {
  const ending = thread
  if (ending === null) return
  thread = null
  ending.tick.cancel()
  ending.thread.postMessage({ kind: 'close' })
}
