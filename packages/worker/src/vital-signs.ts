// What a worker tells the store about itself with each heartbeat, and anybody who asks at its endpoint. It only looks:
// what the figures mean is for core's health to say, and what is coming for core's forecast.

import { type BeatReport, CLAIMS_NOTHING, type Clock, Forecast, type HealthThresholds } from '@reprise/core'
import type { ActiveExecution } from './active-execution.ts'
import { LoopLag } from './loop-lag.ts'
import type { SettlementLog } from './settlement-log.ts'

type Vital = Omit<BeatReport, 'worker' | 'epoch' | 'draining' | 'policyVersion'>

export interface VitalSignsOptions {
  readonly clock: Clock
  readonly active: ReadonlySet<ActiveExecution>
  readonly settlementLog: SettlementLog
  readonly thresholds: HealthThresholds
  /** Why it claims nothing any more; null while it does. */
  readonly trouble: () => string | null
}

/** Of the outcomes up to one heartbeat, what still counts at the next: enough that chance does not look like a trend. */
const FADING = 0.8
/** A trend needs this many times the outcomes that a rate needs. */
const TREND_OUTCOMES = 3

export class VitalSigns {
  readonly lag = new LoopLag()
  readonly #options: VitalSignsOptions
  readonly #forecast: Forecast
  /** What the log had counted at the last heartbeat. */
  #seen = { ended: 0, faults: 0 }
  #recent = { ended: 0, faults: 0 }
  #endedBefore = 0
  #readAt: number
  #progressAt: number

  constructor(options: VitalSignsOptions) {
    this.#options = options
    this.#readAt = options.clock.monotonic()
    this.#progressAt = this.#readAt
    this.#forecast = new Forecast(options.thresholds)
  }

  get inFlight(): number {
    return this.#options.active.size
  }

  /** Called once for each heartbeat: the forecast follows the figures from one to the next. */
  read(): Vital {
    // What is claimed starts at once: nothing waits inside. What lies in its inbox is counted by the store.
    const queueDepth = 0
    const loopLagMs = this.lag.ms
    const failureRate = this.#failureRate()
    const at = this.#options.clock.monotonic()
    const forecast = this.#forecast.sample({ at, failureRate, loopLagMs, queueDepth })
    const trouble = this.#options.trouble()
    return {
      inFlight: this.inFlight,
      queueDepth,
      loopLagMs,
      memoryBytes: process.memoryUsage.rss(),
      maxQuietMs: this.#maxQuietMs(),
      outlook: trouble === null ? forecast : CLAIMS_NOTHING + trouble,
    }
  }

  /** Of its latest outcomes; 0 while there are too few to tell. */
  #failureRate(): number {
    const { settlementLog, thresholds } = this.#options
    const { succeeded, failed } = settlementLog.counts
    const seen = { ended: succeeded + failed, faults: settlementLog.faults }
    this.#recent = {
      ended: this.#recent.ended * FADING + seen.ended - this.#seen.ended,
      faults: this.#recent.faults * FADING + seen.faults - this.#seen.faults,
    }
    this.#seen = seen
    const { ended, faults } = this.#recent
    return ended < thresholds.minOutcomes * TREND_OUTCOMES ? 0 : faults / ended
  }

  /**
   * How long it may be quiet from its last progress on: until the first of its attempts is past its time-out. Progress is noticed at
   * heartbeats; it counts from the one before, so that it is never taken for stuck too soon.
   */
  #maxQuietMs(): number {
    const { clock, active, settlementLog } = this.#options
    const { succeeded, failed, released } = settlementLog.counts
    const ended = succeeded + failed + released
    const now = clock.monotonic()
    if (active.size === 0) this.#progressAt = now
    else if (ended !== this.#endedBefore) this.#progressAt = this.#readAt
    this.#endedBefore = ended
    this.#readAt = now
    let deadlineAt = Number.POSITIVE_INFINITY
    for (const execution of active) deadlineAt = Math.min(deadlineAt, execution.deadlineAt)
    return deadlineAt === Number.POSITIVE_INFINITY ? 0 : Math.max(Math.round(deadlineAt - this.#progressAt), 1)
  }
}
