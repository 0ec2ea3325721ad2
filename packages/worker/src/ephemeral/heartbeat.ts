// The heartbeat of an ephemeral worker: every few seconds, and soon after its handler has told something new. It brings progress
// and log lines, knows how long the lease lasts, and is the first to hear that the attempt is somebody else's.

import {
  type Clock,
  cut,
  type Logger,
  type LogLine,
  messageOf,
  type Progress,
  type RepriseError,
  WakeUp,
} from '@reprise/core'
import { KeptLog } from '../kept-log.ts'
import type { ServerCalls } from './server-calls.ts'

/** Everybody sees what is new within a second. */
const NEWS_MS = 500
const BEAT_EVERY_MS = 5_000
const NOTE_LENGTH_MAX = 1_000

export interface HeartbeatOptions {
  readonly calls: Pick<ServerCalls, 'beat'>
  readonly clock: Clock
  readonly log: Logger
  readonly onSuperseded: (error: RepriseError) => void
}

export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #wakeUp = new WakeUp()
  readonly #stopped = new AbortController()
  readonly #kept = new KeptLog()
  #progress: Progress | null = null
  #newsAreDue = false
  #beatEveryMs = BEAT_EVERY_MS
  /** On the monotonic clock. */
  #leaseUntil = Number.NEGATIVE_INFINITY
  #beating: Promise<void> | null = null
  #isTold = false

  constructor(options: HeartbeatOptions) {
    this.#options = options
  }

  get leaseMsLeft(): number {
    return Math.max(this.#leaseUntil - this.#options.clock.monotonic(), 0)
  }

  leaseLasts(ms: number, since: number): void {
    this.#leaseUntil = Math.max(this.#leaseUntil, since + ms)
  }

  start(): void {
    this.#beating ??= this.#loop()
  }

  /** Comes back when no call is under way any more. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#wakeUp.call()
    await this.#beating
  }

  report(fraction: number | null, note: string | undefined): void {
    const share = fraction === null || Number.isNaN(fraction) ? null : Math.min(Math.max(fraction, 0), 1)
    this.#progress = { fraction: share, note: note === undefined ? null : cut(String(note), NOTE_LENGTH_MAX) }
    this.#hasNews()
  }

  keep(level: LogLine['level'], text: string): void {
    this.#kept.add(this.#options.clock.now(), level, text)
    this.#hasNews()
  }

  /** One beat, with all that is new. False if the attempt is not this worker's any more; throws if it could not be heard. */
  async beat(signal?: AbortSignal): Promise<boolean> {
    const { calls, clock, onSuperseded } = this.#options
    const progress = this.#progress
    const log = this.#kept.take()
    this.#progress = null
    const sentAt = clock.monotonic()
    try {
      const beat = await calls.beat({ progress, log }, signal)
      if (beat.outcome === 'superseded') {
        onSuperseded(beat.error)
        return false
      }
      this.leaseLasts(beat.leaseMs, sentAt)
      this.#beatEveryMs = beat.beatEveryMs
      this.#isTold = false
      return true
    } catch (error) {
      this.#progress ??= progress
      if (log !== null) this.#kept.putBack()
      throw error
    }
  }

  /** What is still to be told, before the end is. Never rejects: the end matters more. */
  async tellTheRest(signal: AbortSignal): Promise<void> {
    if (this.#newsAreDue) await this.beat(signal).catch(() => undefined)
  }

  #hasNews(): void {
    if (this.#newsAreDue) return
    this.#newsAreDue = true
    this.#options.clock.after(NEWS_MS, () => this.#wakeUp.call())
  }

  async #loop(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopped
    while (!signal.aborted) {
      await this.#wakeUp.waitFor(clock, this.#beatEveryMs, signal)
      if (signal.aborted) return
      this.#newsAreDue = false
      try {
        if (!(await this.beat(signal))) return
      } catch (error) {
        this.#newsAreDue = true
        if (signal.aborted || this.#isTold) continue
        this.#isTold = true
        log.warn(`The server does not hear this worker: ${messageOf(error)} The work goes on.`)
      }
    }
  }
}
