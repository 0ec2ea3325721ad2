// The first line of each part of Alerts: what is kept quiet, which rules watch, and who is told.

import { useOperation } from '../../api/operations.ts'
import { count, many } from '../../format.ts'

const RULES_MS = 30_000

export function SilencesSentence() {
  const silences = useOperation('listSilences', {}).data?.items
  const active = silences?.filter((one) => one.active).length
  if (active === undefined) return null
  return active === 0
    ? 'No silence holds now: every alert is told.'
    : `${many(active, 'silence holds', 'silences hold')} now.`
}

export function RulesSentence() {
  const rules = useOperation('listAlertRules', {}, { everyMs: RULES_MS }).data?.items
  if (rules === undefined) return null
  const off = rules.filter(({ enabled }) => !enabled).length
  const words = `${many(rules.length, 'rule watches', 'rules watch')} the figures`
  return off === 0
    ? `${words}, all switched on.`
    : `${words}; ${count(off)} of them ${off === 1 ? 'is' : 'are'} switched off.`
}

export function ChannelsSentence() {
  const channels = useOperation('listChannels', {}).data?.items
  if (channels === undefined) return null
  const on = channels.filter(({ enabled }) => enabled).length
  if (on === 0) return 'An alert shows here, and nowhere else.'
  return `${many(on, 'channel is', 'channels are')} told of alerts${on === channels.length ? '' : `; ${count(channels.length - on)} switched off`}.`
}
