// The sweep: settles what is past its time, so that a task whose worker vanished runs again. It looks about once a
// second, at once again while there is more, and holds off for a grace time after a pause, a clock jump or trouble with
// the store, so that live workers can renew first. Store errors never end it.

import {
  BATCH_MAX,
  check,
  type PolicySource,
  type RetentionRules,
  refuseNoEngine,
  type Service,
  type Waiting,
  withoutPolicies,
} from '@reprise/core'
import { HoldOff } from './hold-off.ts'
import { retentionSteps } from './retention.ts'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'
import { type SweepingEngine, settleOverdue } from './sweep-once.ts'

export interface SweepOptions extends ServiceOptions {
  readonly engine: SweepingEngine & Waiting
  readonly intervalMs?: number
  /** How long live workers get to renew after a pause, a clock jump or trouble with the store. */
  readonly graceMs?: number
  /** How long ended tasks are kept; without it nothing is deleted. */
  readonly retention?: RetentionRules | undefined
  /** What decides about failures; the actions' own settings if not given. */
  readonly policies?: PolicySource | undefined
}

const INTERVAL_MS = 1_000
const GRACE_MS = 5_000

const RETENTION_CHECKS: check.Table<RetentionRules> = {
  succeededMs: check.msFrom0,
  cancelledMs: check.msFrom0,
  discardedMs: check.msFrom0,
  journalMs: check.msFrom0,
  seriesMs: check.msFrom0,
}
const CHECKS: check.Table<SweepOptions> = {
  ...SERVICE_CHECKS,
  intervalMs: check.ms,
  graceMs: check.msFrom0,
  retention(value) {
    check.options(value as RetentionRules, RETENTION_CHECKS, 'retention rule of a sweep')
    return null
  },
}

export function createSweep(options: SweepOptions): Service {
  check.options(options, CHECKS, 'sweep option')
  refuseNoEngine(options.engine, 'expired', 'createSweep')
  const around = surroundings('sweep', options)
  const { clock, random, log } = around
  const { engine, intervalMs = INTERVAL_MS, graceMs = GRACE_MS, policies = withoutPolicies } = options
  return createLoop('sweep', around, () => {
    const holdOff = new HoldOff(clock, graceMs)
    const retain = options.retention === undefined ? null : retentionSteps(engine, options.retention, clock)
    /** One look. Says how long to rest before the next. */
    const lookAndSettle = async (): Promise<number> => {
      const askedAt = clock.monotonic()
      const look = await engine.expired(BATCH_MAX)
      const missing = holdOff.observe(look.now, askedAt)
      if (missing !== null) {
        log.warn('Time went missing; the sweep waits for live workers to renew first.', { ...missing, graceMs })
      }
      const heldOffMs = holdOff.remainingMs(look)
      if (heldOffMs > 0) return Math.min(heldOffMs, jitteredMs(intervalMs, random))
      const report = await settleOverdue(engine, random, look, policies.current())
      if (report.settled > 0) log.info('The sweep settled what was past its time.', { ...report })
      if (report.full && report.settled > 0) return 0
      const hasMoreToDelete = (await retain?.()) ?? false
      return hasMoreToDelete ? 0 : jitteredMs(intervalMs, random)
    }
    return {
      async round() {
        const delayMs = await lookAndSettle()
        holdOff.planned(delayMs)
        return delayMs
      },
      troubled: (delayMs) => holdOff.troubled(delayMs),
    }
  })
}
