// The rules of alerts as a file for Prometheus, for those who have one and want its alerts to be the same. What our metrics do not
// show there (single tasks, causes, actions, tenants) stands in the file as a comment.

import type { AlertRule } from '@reprise/core'
import { CATALOGUE } from './catalogue.ts'

export function prometheusRules(rules: readonly AlertRule[]): string {
  const lines = [
    '# Made by reprise alerts export. Name it under rule_files in prometheus.yml.',
    'groups:',
    '  - name: reprise',
  ]
  const parts = rules.filter(({ enabled }) => enabled).flatMap(ruleLines)
  return `${[...lines, ...(parts.some((line) => line.startsWith('      -')) ? ['    rules:'] : ['    rules: []']), ...parts].join('\n')}\n`
}

function ruleLines(rule: AlertRule): readonly string[] {
  const expression = expressionOf(rule)
  if (expression === null) return [`      # ${rule.name}: only Reprise itself sees this (${rule.metric}).`]
  const usual = alertLines(rule, `${expression} > ${rule.above}`, rule.severity)
  if (rule.criticalAbove === null) return usual
  return [...usual, ...alertLines(rule, `${expression} > ${rule.criticalAbove}`, 'critical')]
}

function alertLines(
  { name, forMs, runbook, metric }: AlertRule,
  expression: string,
  severity: string,
): readonly string[] {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const title = words.map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join('')
  return [
    `      - alert: ${JSON.stringify(`Reprise${title}${severity === 'critical' ? 'Critical' : ''}`)}`,
    `        expr: ${JSON.stringify(expression)}`,
    ...(forMs === 0 ? [] : [`        for: ${seconds(forMs)}`]),
    `        labels: { severity: ${severity}, rule: ${JSON.stringify(name)} }`,
    '        annotations:',
    `          summary: ${JSON.stringify(`${metric} is {{ $value | humanize }}`)}`,
    ...(runbook === null ? [] : [`          runbook: ${JSON.stringify(runbook)}`]),
  ]
}

const seconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1_000))}s`

const ENDED = 'status=~"succeeded|failed|lost"'

/** Null if our metrics do not show it. They know pools, and neither actions nor tenants. */
function expressionOf({ metric, pool, action, tenant, by, windowMs }: AlertRule): string | null {
  if (action !== null || tenant !== null || (by !== null && by !== 'pool')) return null
  const only = pool === null ? [] : [`pool=${JSON.stringify(pool)}`]
  const sum = by === 'pool' ? 'sum by (pool) ' : 'sum'
  const rate = (name: string, ...labels: readonly string[]): string => {
    const all = [...only, ...labels].join(',')
    return `${sum}(rate(${name}${all === '' ? '' : `{${all}}`}[${seconds(windowMs)}]))`
  }
  const { retryFailure, retrySuccess, retryScheduled, executions, retryDlq, breakers, unhealthyShare } = CATALOGUE
  switch (metric) {
    case 'dead_letters':
      return `sum(${CATALOGUE.tasks.name}{status="dead"})`
    case 'dead':
    case 'queued':
      return pool === null && by === null
        ? `sum(${CATALOGUE.tasks.name}{status="${metric}"})`
        : `${sum}(${CATALOGUE.poolTasks.name}{${[...only, `status="${metric}"`].join(',')}})`
    case 'retry_failure_rate':
      return `${rate(retryFailure.name)} / (${rate(retryFailure.name)} + ${rate(retrySuccess.name)})`
    case 'retry_rate':
      return `${rate(retryScheduled.name)} / ${rate(executions.name, ENDED)}`
    case 'failure_rate':
      return `${rate(executions.name, 'status=~"failed|lost"')} / ${rate(executions.name, ENDED)}`
    case 'dead_letter_rate':
      return `60 * ${rate(retryDlq.name)}`
    case 'no_success':
      return `1 - clamp_max(${rate(executions.name, 'status="succeeded"')} * 1e9, 1)`
    case 'breaker_open':
      return `sum by (level) (${breakers.name}{status="open"})`
    case 'unhealthy_workers':
      return unhealthyShare.name
    case 'work_orders_unpushed':
      return `sum by (system) (${CATALOGUE.workOrdersUnpushed.name})`
    case 'repeated_failures':
    case 'new_cause':
    case 'work_orders_late':
      return null
  }
}
