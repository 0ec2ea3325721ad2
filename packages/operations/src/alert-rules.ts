// The rules of alerts over the API: those that are ready-made, those of the configuration, and own ones. And all of them as a file
// for Prometheus.

import {
  ALERT_GROUPINGS,
  ALERT_METRIC_NAMES,
  alertRule,
  alertRules,
  alertRulesIn,
  ConflictError,
  durationMs,
  type Engine,
  type KnownRule,
  NotFoundError,
  putAlertRule,
  RULES_MAX,
} from '@reprise/core'
import { prometheusRules } from '@reprise/telemetry'
import { z } from 'zod'
import { SeverityView } from './alerts.ts'
import { given } from './given.ts'
import { operation } from './operation.ts'
import {
  ActionNameInput,
  DurationInput,
  listOf,
  Milliseconds,
  NewName,
  PoolNameInput,
  pageOf,
  TenantIdInput,
  wholePage,
} from './schemas/names.ts'

const nullableName = z.string().nullable()

const RuleView = z
  .object({
    name: z.string(),
    metric: z.enum(ALERT_METRIC_NAMES as [string, ...string[]]),
    pool: nullableName,
    action: nullableName,
    tenant: nullableName,
    by: z.enum(ALERT_GROUPINGS).nullable(),
    windowMs: Milliseconds,
    above: z.number(),
    criticalAbove: z.number().nullable(),
    forMs: Milliseconds,
    severity: SeverityView,
    unless: listOf(z.string()),
    runbook: nullableName,
    enabled: z.boolean(),
    source: z.enum(['ready', 'configuration', 'api']).meta({ description: 'Where it stands.' }),
    updatedBy: z.string(),
  })
  .meta({ id: 'AlertRule', description: 'Which figure is watched, and above what somebody is told.' })

const common = { tag: 'alerts', tenants: 'all' } as const

export const alertRuleOperations = {
  listAlertRules: operation({
    ...common,
    route: 'GET /api/v1/alert-rules',
    summary: 'List the rules of alerts',
    right: 'read',
    input: z.object({}),
    output: pageOf(RuleView, 'AlertRulePage'),
    answer: 'All rules, by name; also those that are switched off.',
    run: async ({ engine }) => wholePage((await alertRules(engine)).map(ruleView)),
  }),
  putAlertRule: operation({
    ...common,
    route: 'PUT /api/v1/alert-rules/{name}',
    summary: 'Make a rule of alerts, or replace one',
    description: 'What is left out is as the metric has it. One with the name of a ready-made rule replaces that.',
    right: 'configure',
    input: z.object({
      name: NewName,
      metric: z.enum(ALERT_METRIC_NAMES as [(typeof ALERT_METRIC_NAMES)[number]]),
      pool: PoolNameInput.nullable().optional(),
      action: ActionNameInput.nullable().optional(),
      tenant: TenantIdInput.nullable().optional(),
      by: z.enum(ALERT_GROUPINGS).nullable().optional(),
      window: DurationInput.optional(),
      above: z.number().optional(),
      criticalAbove: z.number().nullable().optional(),
      for: DurationInput.optional().meta({ description: 'For how long the figure has to be above.' }),
      severity: SeverityView.optional(),
      unless: z.array(z.string().min(1).max(200)).max(50).optional(),
      runbook: z.string().min(1).max(1_000).nullable().optional(),
      enabled: z.boolean().optional(),
    }),
    output: RuleView,
    answer: 'The rule as it is now.',
    repeatable: true,
    problems: [409],
    run: async ({ engine }, { actor }, { window, for: lasting, ...fields }) => {
      const rule = alertRule({
        ...given(fields),
        name: fields.name,
        metric: fields.metric,
        ...(window === undefined ? {} : { windowMs: durationMs(window, 'window') }),
        ...(lasting === undefined ? {} : { forMs: durationMs(lasting, 'for') }),
      })
      const rules = await alertRules(engine)
      if (rules.length >= RULES_MAX && !rules.some(({ name }) => name === rule.name)) {
        throw new ConflictError(`There are ${RULES_MAX} rules of alerts, the most there may be.`)
      }
      const stored = await putAlertRule(engine, { ...rule, id: rule.name, source: 'api', updatedBy: actor })
      await noteRule(engine, rule.name, actor, rule.enabled ? 'set' : 'switched off')
      return ruleView(stored)
    },
  }),
  removeAlertRule: operation({
    ...common,
    route: 'DELETE /api/v1/alert-rules/{name}',
    summary: 'Remove a rule of alerts',
    description: 'A ready-made rule that it replaced counts again. To be rid of a ready-made one, put it switched off.',
    right: 'configure',
    input: z.object({ name: NewName }),
    output: z.null(),
    answer: 'It is gone; its alerts are over.',
    status: 204,
    problems: [404],
    run: async ({ engine }, { actor }, { name }) => {
      if (!(await alertRulesIn(engine).remove(name))) throw new NotFoundError('rule of alerts', name)
      await noteRule(engine, name, actor, 'removed')
      return null
    },
  }),
  exportAlertRules: operation({
    ...common,
    route: 'GET /api/v1/alert-rules/prometheus',
    summary: 'The rules of alerts as a file for Prometheus',
    description: 'What Prometheus can not see stands there as a comment.',
    right: 'read',
    input: z.object({}),
    output: z.object({ text: z.string().meta({ description: 'YAML, for rule_files.' }) }),
    answer: 'The file.',
    run: async ({ engine }) => ({ text: prometheusRules(await alertRules(engine)) }),
  }),
}

function ruleView(rule: KnownRule): z.output<typeof RuleView> {
  const { name, metric, pool, action, tenant, by, windowMs, above, criticalAbove, forMs, severity } = rule
  const { unless, runbook, enabled, source, updatedBy } = rule
  const about = { name, metric, pool, action, tenant, by }
  return {
    ...about,
    windowMs,
    above,
    criticalAbove,
    forMs,
    severity,
    unless,
    runbook,
    enabled,
    source,
    updatedBy,
  }
}

async function noteRule(
  { journal }: Pick<Engine, 'journal'>,
  rule: string,
  actor: string,
  what: string,
): Promise<void> {
  const reason = `The rule of alerts '${rule}' was ${what}.`
  await journal.append([{ type: 'alert.changed', taskId: null, attempt: null, actor, reason, data: { rule } }])
}
