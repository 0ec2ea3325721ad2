// The sweep: settles what is past its time, so that a task whose worker vanished runs again. It looks about once a
// second, at once again while there is more, and holds off for a grace time after a pause, a clock jump or trouble with
// the store, so that live workers can renew first. Store errors never end it.

import {
  BATCH_MAX,
  type Backoff,
  backoffMs,
  type Clock,
  createService,
  isRepriseError,
  type Logger,
  NO_POLICIES,
  type PolicySource,
  type Random,
  type RetentionRules,
  refuseNoEngine,
  type Service,
  sleep,
  type Upkeep,
  type Waiting,
  type Work,
} from '@reprise/core'
import { HoldOff } from './hold-off.ts'
import { type Checks, checkOptions, ms, msFrom0, SERVICE_CHECKS } from './option-checks.ts'
import { type ServiceOptions, type Surroundings, surroundings } from './patient-loop.ts'
import { LATE_MS_MAX, PauseDetector } from './pause-detector.ts'
import { Retention } from './retention.ts'
import { settleOverdue } from './sweep-once.ts'

export interface SweepOptions extends ServiceOptions {
  readonly engine: Upkeep & Work & Waiting
  readonly intervalMs?: number
  /** How long live workers get to renew after a pause, a clock jump or trouble with the store. */
  readonly graceMs?: number
  /** How long ended tasks are kept; without it nothing is deleted. */
  readonly retention?: RetentionRules
  /** What decides about failures; the actions' own settings if not given. */
  readonly policies?: PolicySource
}

const INTERVAL_MS = 1_000
const GRACE_MS = 5_000
/** Sweepers started together drift apart by up to this share of the interval. */
const INTERVAL_JITTER = 0.25
const ERROR_BACKOFF: Backoff = { kind: 'decorrelated', baseMs: 100, maxMs: 5_000 }

const RETENTION_CHECKS: Checks<RetentionRules> = {
  succeededMs: msFrom0,
  cancelledMs: msFrom0,
  discardedMs: msFrom0,
  journalMs: msFrom0,
  seriesMs: msFrom0,
}
const CHECKS: Checks<SweepOptions> = {
  ...SERVICE_CHECKS,
  intervalMs: ms,
  graceMs: msFrom0,
  retention(value) {
    checkOptions(value as RetentionRules, RETENTION_CHECKS, 'retention rule of a sweep')
    return null
  },
}

export function createSweep(options: SweepOptions): Service {
  checkOptions(options, CHECKS, 'sweep option')
  refuseNoEngine(options.engine, 'expired', 'createSweep')
  const around = surroundings('sweep', options)
  return createService('sweep', (signal) => new Sweep(options, around).run(signal), around.onError)
}

class Sweep {
  readonly #engine: Upkeep & Work & Waiting
  readonly #clock: Clock
  readonly #random: Random
  readonly #intervalMs: number
  readonly #graceMs: number
  readonly #holdOff: HoldOff
  readonly #retention: Retention | null
  readonly #onError: (error: unknown) => void
  readonly #log: Logger
  readonly #policies: PolicySource
  readonly #detector = new PauseDetector()
  /** The round before failed: workers may not have reached the store either. */
  #troubled = false
  #errorsInRow = 0

  constructor(options: SweepOptions, { clock, random, log, onError }: Surroundings) {
    this.#engine = options.engine
    this.#clock = clock
    this.#random = random
    this.#intervalMs = options.intervalMs ?? INTERVAL_MS
    this.#graceMs = options.graceMs ?? GRACE_MS
    this.#holdOff = new HoldOff(this.#graceMs)
    this.#onError = onError
    this.#log = log
    this.#policies = options.policies ?? { current: () => NO_POLICIES }
    this.#retention =
      options.retention === undefined ? null : new Retention(options.engine, options.retention, this.#clock)
  }

  async run(signal: AbortSignal): Promise<void> {
    let delayMs = 0
    while (!signal.aborted) {
      const next = await this.#round(delayMs)
      if (next === 'closed') return
      delayMs = next
      await sleep(this.#clock, delayMs, signal)
    }
  }

  /** One look. Says how long to wait before the next, or that the engine is closed and nothing is left to sweep. */
  async #round(plannedMs: number): Promise<number | 'closed'> {
    try {
      const delayMs = await this.#lookAndSettle(plannedMs)
      this.#errorsInRow = 0
      return delayMs
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) return 'closed'
      this.#troubled = true
      const delayMs = backoffMs(ERROR_BACKOFF, this.#errorsInRow++, this.#random.next())
      this.#log.error('The sweep could not reach the store and will try again.', { error, delayMs })
      this.#onError(error)
      return delayMs
    }
  }

  async #lookAndSettle(plannedMs: number): Promise<number> {
    const askedAt = this.#clock.monotonic()
    const look = await this.#engine.expired(BATCH_MAX)
    const now = this.#clock.monotonic()
    // Had it to wait for the store, so had every renewal.
    const waited = now - askedAt > LATE_MS_MAX
    const steadiness = this.#detector.observe({ storeNow: look.now, monotonic: now }, plannedMs)
    if (steadiness.kind !== 'steady' || waited || this.#troubled) {
      this.#troubled = false
      this.#holdOff.begin(now)
      this.#log.warn('Time went missing; the sweep waits for live workers to renew first.', {
        cause: steadiness.kind === 'steady' ? 'trouble with the store' : steadiness.kind,
        missingMs: steadiness.kind === 'steady' ? 0 : Math.round(steadiness.ms),
        graceMs: this.#graceMs,
      })
    }
    const restMs = this.#holdOff.restMs(now, look)
    if (restMs > 0) return Math.min(restMs, this.#pauseMs())
    const report = await settleOverdue(this.#engine, this.#random, look, this.#policies.current())
    if (report.settled > 0) this.#log.info('The sweep settled what was past its time.', { ...report })
    if (report.full && report.settled > 0) return 0
    await this.#retention?.step()
    return this.#pauseMs()
  }

  #pauseMs(): number {
    return Math.round(this.#intervalMs * (1 + INTERVAL_JITTER * (2 * this.#random.next() - 1)))
  }
}
