// The door of this room: alerts, their rules, silences, and the channels that are told.

export {
  ALERT_STATUSES,
  type Alert,
  type AlertStatus,
  acknowledged as acknowledgedAlert,
  alertId,
  isActive,
  labelsOf,
  type Notice,
  newAlert,
  notified as notifiedAlert,
  observed as observedAlert,
  over as alertOver,
  type Reading,
} from './alert.ts'
export {
  alertRules,
  alertRulesIn,
  alertsIn,
  CHANNELS_MAX,
  channelsIn,
  configureAlertRules,
  type KnownRule,
  putAlertRule,
  RULES_MAX,
  SILENCES_MAX,
  silencesIn,
  stepAlert,
  stepOrMakeAlert,
} from './alert-store.ts'
export {
  CHANNEL_KINDS,
  type Channel,
  type ChannelKind,
  type ChannelRoute,
  checkQuietHours,
  isAtLeast as isAtLeastAsSevere,
  type QuietHours,
} from './channel.ts'
export {
  ALERT_GROUPINGS,
  ALERT_METRIC_NAMES,
  ALERT_METRICS,
  type AlertGrouping,
  type AlertMetric,
  type AlertRule,
  type AlertRuleInput,
  alertRule,
  READY_RULES,
  type Severity,
  type StoredRule,
} from './rule.ts'
export { checkSilence, type Silence, silences } from './silence.ts'
