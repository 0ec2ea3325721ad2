// Rules of alerts as the configuration file has them (docs/alerts.md): what is left out is as the metric has it.

import {
  ALERT_GROUPINGS,
  ALERT_METRIC_NAMES,
  type AlertRule,
  actionName,
  alertRule,
  poolName,
  RULES_MAX,
  SEVERITIES,
  tenantId,
} from '@reprise/core'
import {
  duration,
  fields,
  flag,
  list,
  made,
  numberIn,
  oneOf,
  optional,
  text,
  withoutNamesakes,
} from '@reprise/policies/fields'
import { type Kind, structure, textsOf } from './kinds.ts'

const VALUE_MAX = 1_000_000_000_000

const rule = fields('a rule of alerts', {
  name: text(100),
  metric: oneOf(ALERT_METRIC_NAMES),
  ...optional({
    pool: text().transform(made(poolName)),
    action: text().transform(made(actionName)),
    tenant: text().transform(made(tenantId)),
    by: oneOf(ALERT_GROUPINGS),
    window: duration(),
    above: numberIn(0, VALUE_MAX),
    critical_above: numberIn(0, VALUE_MAX),
    for: duration(),
    severity: oneOf(SEVERITIES),
    unless: textsOf(),
    runbook: text(1_000),
    enabled: flag(),
  }),
}).transform(
  made(({ window, for: lasting, ...given }) =>
    alertRule({
      ...given,
      ...(window === undefined ? {} : { windowMs: window }),
      ...(lasting === undefined ? {} : { forMs: lasting }),
    }),
  ),
)

export const alertRules: Kind<readonly AlertRule[]> = structure(
  'a list of rules, each with name and metric; and above, critical_above, window, for, by, severity and others',
  withoutNamesakes('rule of alerts')(list(RULES_MAX, rule)),
)
