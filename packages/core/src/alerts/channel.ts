// A channel: where alerts are told, and which of them, and when; or an outside system that has a ticket for each work order, which
// hears of no alerts. How each kind of channel is spoken to is in operations; here is only
// what decides whether something is told now: severity, rule, a wait before it is escalated to this channel, reminders, quiet hours.

import { InvalidError } from '../model/errors.ts'
import { SEVERITIES } from '../policy/decide.ts'
import { compileGlobs } from '../policy/glob.ts'
import type { Document } from '../port/collection.ts'
import type { Severity } from './rule.ts'

export const CHANNEL_KINDS = [
  'pagerduty',
  'slack',
  'email',
  'webhook',
  'retry_alert',
  'tenants',
  'work_orders',
] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** When only severe alerts are told; the others wait for the end of it. */
export interface QuietHours {
  /** `22:00`, by the clocks of the zone. */
  readonly from: string
  readonly to: string
  /** As IANA names it: `Europe/Berlin`. */
  readonly zone: string
  /** What is at least as severe is told all the same. */
  readonly butFrom: Severity
}

/** What decides about telling. */
export interface ChannelRoute {
  readonly enabled: boolean
  readonly kind: ChannelKind
  /** Only alerts of these rules, with `*` for any run of characters; all if empty. */
  readonly rules: readonly string[]
  readonly minSeverity: Severity
  /** How long an alert has to go unacknowledged before it is told here: 0 for at once. */
  readonly afterMs: number
  /** How often it is told again while nobody acknowledges it; null for never. */
  readonly remindMs: number | null
  readonly quiet: QuietHours | null
}

export interface Channel extends Document, ChannelRoute {
  readonly name: string
  /** Of its kind: addresses, keys, a template. Some are secret. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly disabledBecause: string | null
  readonly createdBy: string
}

export const isAtLeast = (severity: Severity, least: Severity): boolean =>
  SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)

/** Whether alerts of this rule and severity are told there at all. */
export const takesAlerts = (
  { enabled, kind, rules, minSeverity }: ChannelRoute,
  { rule, severity }: { readonly rule: string; readonly severity: Severity },
): boolean =>
  enabled &&
  kind !== 'work_orders' &&
  isAtLeast(severity, minSeverity) &&
  (rules.length === 0 || compileGlobs(rules)(rule))

const FORMATS_MAX = 1_000
const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/

/** `InvalidError` for a time or a zone that does not exist. */
export function checkQuietHours({ from, to, zone }: QuietHours): void {
  for (const time of [from, to]) {
    if (!TIME.test(time))
      throw new InvalidError(`A time of quiet hours is written as 22:00, not '${time.slice(0, 20)}'.`)
  }
  try {
    minuteOfDay(zone, 0)
  } catch (error) {
    throw new InvalidError(`The time zone '${zone.slice(0, 50)}' is not known. Write it as Europe/Berlin, or UTC.`, {
      cause: error,
    })
  }
}

export function isQuiet({ quiet }: Pick<ChannelRoute, 'quiet'>, severity: Severity, at: number): boolean {
  if (quiet === null || isAtLeast(severity, quiet.butFrom)) return false
  const minute = minuteOfDay(quiet.zone, at)
  const from = minutes(quiet.from)
  const to = minutes(quiet.to)
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to
}

function minutes(time: string): number {
  const [hours = '0', rest = '0'] = time.split(':')
  return Number(hours) * 60 + Number(rest)
}

/** To make one takes longer than everything else about an alert. There are about 600 zones. */
const FORMATS = new Map<string, Intl.DateTimeFormat>()

function minuteOfDay(zone: string, at: number): number {
  const options = { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const format = FORMATS.get(zone) ?? new Intl.DateTimeFormat('en-GB', options)
  if (FORMATS.size < FORMATS_MAX) FORMATS.set(zone, format)
  return minutes(format.format(at))
}
