// Rules of alerts: which figure of the store is watched, over which time, and above what it is a reason to call somebody. Some rules
// are ready-made (B10, C10); others stand in the store, from the configuration or from the API. A rule in the store replaces the
// ready-made one of the same name. What a figure is, and how it is read, is in the orchestrator's alert-readings.ts.

import { InvalidError } from '../model/errors.ts'
import { checkedName } from '../model/ids.ts'
import { nearMiss } from '../model/near-miss.ts'
import { type Escalation, SEVERITIES } from '../policy/decide.ts'
import { SERIES_POINTS_MAX, SERIES_STEP_MS } from '../port/queries.ts'

export type Severity = Escalation['severity']

const MINUTE = 60_000

interface MetricFacts {
  /** What its value is, in words. */
  readonly about: string
  readonly above: number
  readonly criticalAbove: number | null
  /** 0 for what is looked at as it is now. */
  readonly windowMs: number
  readonly forMs: number
  readonly severity: Severity
  /** Whether it can be about one pool, action or tenant, and grouped by these. Others have groups of their own, or none. */
  readonly isScoped: boolean
}

const now = { windowMs: 0, forMs: 0, criticalAbove: null, isScoped: false } as const
const share = { windowMs: 10 * MINUTE, forMs: MINUTE, isScoped: true } as const

export const ALERT_METRICS = {
  dead_letters: { ...now, about: 'open work orders: one alert for each cause', above: 0, severity: 'normal' },
  repeated_failures: {
    ...now,
    about: 'tasks of one action that have failed twice or more, and are tried again',
    above: 0,
    severity: 'low',
  },
  new_cause: {
    ...now,
    about: 'dead letters of a cause that was never seen before the window: one alert for each',
    windowMs: 60 * MINUTE,
    above: 0,
    severity: 'normal',
  },
  breaker_open: { ...now, about: 'open breakers: one alert for each', forMs: MINUTE, above: 0, severity: 'high' },
  unhealthy_workers: {
    ...now,
    about: 'the share of the workers that are unhealthy',
    forMs: MINUTE,
    above: 0.3,
    criticalAbove: 0.7,
    severity: 'high',
  },
  work_orders_late: {
    ...now,
    about: 'seconds that work orders are behind with dead letters',
    // An orchestrator that has just started catches up: that is no reason to wake somebody.
    forMs: 15_000,
    above: 60,
    severity: 'high',
  },
  work_orders_unpushed: {
    ...now,
    about: 'work orders that an outside system could not be made to have: one alert for each system',
    forMs: MINUTE,
    above: 0,
    severity: 'high',
  },
  retry_failure_rate: {
    ...share,
    about: 'of the retries that ended, the share that failed',
    above: 0.15,
    criticalAbove: null,
    severity: 'normal',
    isScoped: false,
  },
  retry_rate: {
    ...share,
    about: 'of the attempts that ended, the share that led to a retry',
    above: 0.2,
    criticalAbove: 0.5,
    severity: 'normal',
  },
  failure_rate: {
    ...share,
    about: 'of the attempts that ended, the share that failed or was lost',
    above: 0.2,
    criticalAbove: 0.5,
    severity: 'normal',
  },
  dead_letter_rate: {
    ...share,
    about: 'new dead letters a minute',
    above: 0.5,
    criticalAbove: 10,
    severity: 'normal',
  },
  no_success: {
    ...share,
    about: '1 if nothing succeeded in the window, else 0',
    forMs: 0,
    above: 0,
    criticalAbove: null,
    severity: 'high',
  },
  queued: { ...now, about: 'queued tasks', isScoped: true, forMs: 5 * MINUTE, above: 10_000, severity: 'normal' },
  dead: { ...now, about: 'dead letters that are there', isScoped: true, above: 1_000, severity: 'normal' },
} as const satisfies Readonly<Record<string, MetricFacts>>

export type AlertMetric = keyof typeof ALERT_METRICS
export const ALERT_METRIC_NAMES = Object.keys(ALERT_METRICS) as readonly AlertMetric[]

export const ALERT_GROUPINGS = ['pool', 'action', 'tenant'] as const
export type AlertGrouping = (typeof ALERT_GROUPINGS)[number]

export interface AlertRule {
  readonly name: string
  readonly metric: AlertMetric
  /** Only these; all that is null. */
  readonly pool: string | null
  readonly action: string | null
  readonly tenant: string | null
  /** One alert for each pool, action or tenant; null for one about all. */
  readonly by: AlertGrouping | null
  readonly windowMs: number
  /** It is a reason while the figure is above this. */
  readonly above: number
  /** Above this the severity is critical; null for never. */
  readonly criticalAbove: number | null
  /** For how long it has to be, before anybody is called. */
  readonly forMs: number
  readonly severity: Severity
  /** Nobody is told for two windows after an alert of these rules fired: it says the same, and more. */
  readonly unless: readonly string[]
  /** The name or address of what helps. */
  readonly runbook: string | null
  readonly enabled: boolean
}

export type AlertRuleInput = Partial<AlertRule> & Pick<AlertRule, 'name' | 'metric'>

/** A rule that stands in the store. */
export interface StoredRule extends AlertRule {
  readonly id: string
  readonly source: 'api' | 'configuration'
  readonly updatedBy: string
}

const WINDOW_MS_MAX = (SERIES_POINTS_MAX - 1) * SERIES_STEP_MS
const FOR_MS_MAX = 86_400_000
const VALUE_MAX = 1_000_000_000_000

/** Complete, with the defaults of its metric. `InvalidError` if it makes no sense. */
export function alertRule(input: AlertRuleInput): AlertRule {
  const { metric } = input
  if (!Object.hasOwn(ALERT_METRICS, metric)) {
    const known = ALERT_METRIC_NAMES.join(', ')
    throw new InvalidError(
      `There is no metric '${metric}'.${nearMiss(metric, ALERT_METRIC_NAMES)} There are: ${known}.`,
    )
  }
  const facts: MetricFacts = ALERT_METRICS[metric]
  const { pool = null, action = null, tenant = null, by = null } = input
  if (!facts.isScoped && (pool !== null || action !== null || tenant !== null || by !== null)) {
    throw new InvalidError(`The metric '${metric}' is not about one pool, action or tenant: leave these out.`)
  }
  const rule: AlertRule = {
    name: checkedName('name of a rule', input.name),
    metric,
    pool,
    action,
    tenant,
    by,
    windowMs: input.windowMs ?? facts.windowMs,
    above: input.above ?? facts.above,
    criticalAbove: input.criticalAbove === undefined ? facts.criticalAbove : input.criticalAbove,
    forMs: input.forMs ?? facts.forMs,
    severity: input.severity ?? facts.severity,
    unless: input.unless ?? [],
    runbook: input.runbook ?? null,
    enabled: input.enabled ?? true,
  }
  checkNumbers(rule, facts)
  return rule
}

function checkNumbers({ windowMs, forMs, above, criticalAbove, severity }: AlertRule, facts: MetricFacts): void {
  const least = facts.windowMs === 0 ? 0 : SERIES_STEP_MS
  if (!isWithin(windowMs, least, WINDOW_MS_MAX)) {
    throw new InvalidError(`The window is from ${least} ms to ${WINDOW_MS_MAX} ms, not ${windowMs}.`)
  }
  if (!isWithin(forMs, 0, FOR_MS_MAX)) throw new InvalidError(`'for' is at most a day, not ${forMs} ms.`)
  if (!isWithin(above, 0, VALUE_MAX) || (criticalAbove !== null && !isWithin(criticalAbove, above, VALUE_MAX))) {
    throw new InvalidError("'above' is a number from 0, and 'critical above' is not below it.")
  }
  if (!SEVERITIES.includes(severity)) throw new InvalidError(`The severity is one of ${SEVERITIES.join(', ')}.`)
}

const isWithin = (value: number, from: number, to: number): boolean => value >= from && value <= to

const CAUSES = ['dead_letters']

/** What is watched without anybody's doing. What the causes tell already is not told again by their sum. */
export const READY_RULES: readonly AlertRule[] = [
  alertRule({ name: 'dead_letters', metric: 'dead_letters' }),
  alertRule({ name: 'repeated_failures', metric: 'repeated_failures' }),
  alertRule({ name: 'retry_failure_rate', metric: 'retry_failure_rate', unless: CAUSES }),
  alertRule({ name: 'retry_rate', metric: 'retry_rate', unless: CAUSES }),
  alertRule({ name: 'dead_letter_rate', metric: 'dead_letter_rate', unless: CAUSES }),
  alertRule({ name: 'breaker_open', metric: 'breaker_open' }),
  alertRule({ name: 'unhealthy_workers', metric: 'unhealthy_workers' }),
  alertRule({ name: 'work_orders_late', metric: 'work_orders_late' }),
  alertRule({ name: 'work_orders_unpushed', metric: 'work_orders_unpushed' }),
]
