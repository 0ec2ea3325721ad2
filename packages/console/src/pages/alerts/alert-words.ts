// How an alert is, in shape, word and sentence, and which comes first.

import type { OperationOutput } from '../../api/client.ts'
import { count, many } from '../../format.ts'

export type Alert = OperationOutput<'listAlerts'>['items'][number]

export type Rule = OperationOutput<'listAlertRules'>['items'][number]

export const ALERT_LOOKS: Readonly<Record<Alert['state']['status'], readonly [look: string, word: string]>> = {
  firing: ['dead', 'firing'],
  acknowledged: ['running', 'acknowledged'],
  pending: ['waiting', 'pending'],
  resolved: ['succeeded', 'resolved'],
}

const STATUSES = ['firing', 'acknowledged', 'pending', 'resolved'] as const
export const SEVERITIES = ['critical', 'high', 'normal', 'low'] as const

/** What nobody is at first, then the worst, then the latest. */
export const byNeed = (one: Alert, other: Alert): number =>
  STATUSES.indexOf(one.state.status) - STATUSES.indexOf(other.state.status) ||
  SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
  other.state.since - one.state.since

/** They say nothing to people. */
const HASHES: ReadonlySet<string> = new Set(['workOrder', 'fingerprint'])

export const aboutOf = ({ group }: Alert): string =>
  Object.entries(group)
    .filter(([name]) => !HASHES.has(name))
    .map(([, value]) => value)
    .join(', ')

/** As a silence is written: rule=retry_rate, action=mail.* */
export const matchersOf = (matches: Readonly<Record<string, string>>): string =>
  Object.entries(matches)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')

export function sentenceOf(alerts: readonly Alert[]): string {
  const firing = alerts.filter(({ state }) => state.status === 'firing')
  const taken = alerts.filter(({ state }) => state.status === 'acknowledged').length
  const quiet = firing.filter(({ silenced }) => silenced).length
  if (firing.length === 0)
    return taken === 0 ? 'No alert fires.' : `No alert fires; ${many(taken, 'is', 'are')} acknowledged.`
  const hushed = quiet === 0 ? '' : `, ${count(quiet)} of them silenced`
  const known = taken === 0 ? '' : `; ${many(taken, 'other is', 'others are')} acknowledged`
  return `${many(firing.length, 'alert fires', 'alerts fire')} and nobody is at ${firing.length === 1 ? 'it' : 'them'}${hushed}${known}.`
}

export const pastSentence = (alerts: readonly Alert[], hasMore: boolean): string =>
  alerts.length === 0
    ? 'Nothing was resolved.'
    : `${hasMore ? '≥ ' : ''}${many(alerts.length, 'alert was', 'alerts were')} resolved.`
