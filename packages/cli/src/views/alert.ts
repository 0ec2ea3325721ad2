// Alerts, their rules and silences for people: rows of the lists, and one alert with who was told of it.

import type { OperationOutput } from '@reprise/client'
import { formatDuration } from '@reprise/core'
import type { People } from '../output/output.ts'
import { plain } from '../output/plain-text.ts'
import type { Column } from '../output/table.ts'
import { isoTime, relativeTime } from '../output/times.ts'

type Alert = OperationOutput<'acknowledgeAlert'>
type Detail = OperationOutput<'getAlert'>
type Rule = OperationOutput<'putAlertRule'>
type Silence = OperationOutput<'createSilence'>

export function alertText({ state, silenced }: Pick<Alert, 'state' | 'silenced'>): string {
  const by = state.status === 'acknowledged' ? ` (${state.by})` : ''
  return `${state.status}${by}${silencedText({ state, silenced })}`
}

const silencedText = ({ state, silenced }: Pick<Alert, 'state' | 'silenced'>): string =>
  silenced && state.status !== 'resolved' ? ', silenced' : ''

const groupText = (group: Readonly<Record<string, string>>): string =>
  Object.entries(group)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')

export const alertColumns = (now: number): readonly Column<Alert>[] => [
  { title: 'ALERT', value: ({ id }) => id },
  { title: 'SEVERITY', value: ({ severity }) => severity },
  { title: 'STATE', value: (one) => `${one.state.status}${silencedText(one)}` },
  { title: 'SINCE', value: ({ state }) => relativeTime(state.since, now) },
  { title: 'RULE', value: ({ rule }) => rule },
  { title: 'SAYS', value: ({ says }) => says, flexible: true, below: true },
  { title: 'BY', value: ({ state }) => (state.status === 'acknowledged' ? state.by : null), below: true },
]

export const ruleColumns = (): readonly Column<Rule>[] => [
  { title: 'RULE', value: ({ name }) => name },
  { title: 'IS', value: ({ enabled }) => (enabled ? 'on' : 'off') },
  { title: 'METRIC', value: ({ metric }) => metric },
  { title: 'ABOVE', value: ({ above }) => above, right: true },
  { title: 'CRITICAL', value: ({ criticalAbove }) => criticalAbove, right: true },
  { title: 'WINDOW', value: ({ windowMs }) => (windowMs === 0 ? null : formatDuration(windowMs)), right: true },
  { title: 'FOR', value: ({ forMs }) => (forMs === 0 ? null : formatDuration(forMs)), right: true },
  { title: 'SEVERITY', value: ({ severity }) => severity },
  { title: 'ABOUT', value: scopeText, flexible: true },
  { title: 'FROM', value: ({ source }) => source },
]

function scopeText({ pool, action, tenant, by }: Rule): string {
  const names = [pool, action, tenant].filter((name) => name !== null)
  return [...names, ...(by === null ? [] : [`each ${by}`])].join(', ') || 'all'
}

export const silenceColumns = (now: number): readonly Column<Silence>[] => [
  { title: 'SILENCE', value: ({ id }) => id },
  { title: 'IS', value: ({ active }) => (active ? 'on' : 'over') },
  { title: 'UNTIL', value: ({ until }) => relativeTime(until, now) },
  { title: 'BY', value: ({ by }) => by },
  { title: 'WHAT', value: ({ matches }) => groupText(matches), flexible: true, below: true },
  { title: 'WHY', value: ({ reason }) => reason, flexible: true, below: true },
]

export function tellAlert(one: Detail, now: number, { line, fields, beside, paint }: People): void {
  line(paint('bold', `${plain(one.id)}  ${plain(one.rule)}`))
  beside('  ', plain(one.says))
  const { state } = one
  fields([
    ['state', plain(alertText(one))],
    ['severity', one.severity],
    ['since', `${relativeTime(state.since, now)} (${isoTime(state.since)})`],
    ['fired', one.firedAt === null ? null : relativeTime(one.firedAt, now)],
    ['about', plain(groupText(one.group)) || null],
    ['runbook', one.runbook === null ? null : plain(one.runbook)],
  ])
  for (const { channel, what, at, count } of one.told) {
    beside(
      '  told: ',
      plain(
        `${channel.replace(/^ch-/, '')} ${what}, ${relativeTime(at, now)}${count > 1 ? ` (${count} times in all)` : ''}`,
      ),
    )
  }
  for (const { firedAt, resolvedAt } of one.past) {
    beside('  before: ', `${relativeTime(firedAt, now)}, for ${formatDuration(resolvedAt - firedAt)}`)
  }
}
