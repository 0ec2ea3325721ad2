// An alert: a rule and a group of what it watches, for which the figure was above the rule's. Its id follows from both, so two
// processes can not make two. It lives on when it is over, and begins a new episode when it comes back.
//
//   pending       The figure is above. Left by itself: fires when that has lasted long enough, or is resolved without a word.
//   firing        People are told, channel by channel. Left by an operator who acknowledges it (or takes its work order), or by
//                 itself when the figure is no longer above.
//   acknowledged  Somebody is at it: no reminder, no escalation. Left by itself when the figure is no longer above.
//   resolved      Over: each channel that was told of it is told so. Left by itself when the figure is above again.
//
// Everything here is pure: a function gives the next document, with the entries for the journal in `untold`. An entry `alert.told` is
// the order to tell one channel one thing. It has a name of its own (`notice`), by which the delivery is made once however often the
// entry is written. Who reads figures and takes these steps is a service of the orchestrator.

import { digest64 } from '../failure/digest.ts'
import { ConflictError } from '../model/errors.ts'
import type { TaskId } from '../model/ids.ts'
import type { By } from '../port/changes.ts'
import type { JournalEntryInput, JournalType } from '../port/journal.ts'
import type { ToldDocument } from '../port/told-documents.ts'
import { type Channel, isAtLeast, isQuiet, takesAlerts } from './channel.ts'
import type { AlertRule, Severity } from './rule.ts'
import { type Silence, silences } from './silence.ts'

export const ALERT_STATUSES = ['pending', 'firing', 'acknowledged', 'resolved'] as const
export type AlertStatus = (typeof ALERT_STATUSES)[number]

type AlertState =
  | { readonly status: 'pending'; readonly since: number }
  | { readonly status: 'firing'; readonly since: number }
  | { readonly status: 'acknowledged'; readonly since: number; readonly by: string; readonly reason: string }
  /** `rule_gone`: nobody watches this any more. */
  | { readonly status: 'resolved'; readonly since: number; readonly because: 'recovered' | 'rule_gone' }

/** What a channel was last told in this episode, and how often it was told anything. */
interface ToldTo {
  readonly what: Notice
  readonly at: number
  readonly count: number
}
export type Notice = 'firing' | 'acknowledged' | 'resolved'

/** What the figure is for one group. */
export interface Reading {
  readonly group: Readonly<Record<string, string>>
  readonly value: number
  /** For a person who was just woken up; missing if it is to stay as it is. */
  readonly says?: string
  /** If it is not the rule's. */
  readonly severity?: Severity
  /** Those that it stands on, as far as they are looked at again. */
  readonly tasks?: readonly TaskId[]
  /** Who is at it already. */
  readonly takenBy?: string
  /** The tenant whose share of new alerts it takes; missing if it is about no tenant alone. */
  readonly whose?: string
  /** What helps, if that is not the rule's. */
  readonly runbook?: string
}

export interface Alert extends ToldDocument {
  readonly rule: string
  readonly group: Readonly<Record<string, string>>
  readonly state: AlertState
  readonly severity: Severity
  readonly says: string
  readonly value: number
  readonly runbook: string | null
  /** The tenant whose share of new alerts this episode took, if one did. */
  readonly whose?: string
  /** Counts up each time it fires. */
  readonly episode: number
  /** When this episode began to fire; null before. */
  readonly firedAt: number | null
  readonly tasks: readonly TaskId[]
  readonly told: Readonly<Record<string, ToldTo>>
  /** Episodes that are over, oldest first. */
  readonly past: readonly { readonly firedAt: number; readonly resolvedAt: number }[]
}

const SERVICE = 'alerts'
const PAST_MAX = 20
const TASKS_MAX = 20
const SAYS_MAX = 500

export const alertId = (rule: string, group: Alert['group']): string =>
  `al-${digest64(JSON.stringify([rule, Object.entries(group).toSorted(([a], [b]) => (a < b ? -1 : 1))]))}`

/** As it is before anything was read. */
export const newAlert = ({ name, severity, runbook }: AlertRule, group: Alert['group'], now: number): Alert => ({
  id: alertId(name, group),
  rule: name,
  group,
  state: { status: 'resolved', since: now, because: 'recovered' },
  severity,
  says: '',
  value: 0,
  runbook,
  episode: 0,
  firedAt: null,
  tasks: [],
  told: {},
  past: [],
  untold: [],
})

export const isActive = ({ state }: Pick<Alert, 'state'>): boolean =>
  state.status === 'firing' || state.status === 'acknowledged'

/** Whether anything can still happen to it by itself: it is there, or somebody has not been told yet that it is over. */
export const isUnfinished = ({ state, told }: Pick<Alert, 'state' | 'told'>): boolean =>
  state.status !== 'resolved' || Object.values(told).some(({ what }) => what !== 'resolved')

/** What was read for it: null if it is not above. Null if that changes nothing. */
export function observed(one: Alert, rule: AlertRule, reading: Reading | null, now: number): Alert | null {
  if (reading === null || reading.value <= rule.above) return over(one, now, 'recovered')
  const seen = knowing(one, rule, reading)
  const { status } = one.state
  if (status === 'resolved') {
    const { whose: _, ...known } = seen
    const whose = reading.whose === undefined ? {} : { whose: reading.whose }
    const begun: Alert = { ...known, ...whose, severity: severityOf(rule, reading), firedAt: null, told: {} }
    return rule.forMs === 0 ? fired(begun, now, reading) : { ...begun, state: { status: 'pending', since: now } }
  }
  if (status === 'pending') return now - one.state.since >= rule.forMs ? fired(seen, now, reading) : null
  if (status === 'firing' && reading.takenBy !== undefined) {
    return acknowledged(seen, { actor: reading.takenBy, reason: 'The work order was taken.' }, now)
  }
  return seen.severity === one.severity && seen.tasks === one.tasks ? null : seen
}

function severityOf({ criticalAbove, severity }: AlertRule, reading: Reading): Severity {
  if (criticalAbove !== null && reading.value > criticalAbove) return 'critical'
  return reading.severity ?? severity
}

/** The severity of an episode only goes up. */
function knowing(one: Alert, rule: AlertRule, reading: Reading): Alert {
  const severity = severityOf(rule, reading)
  const fresh = (reading.tasks ?? []).filter((task) => !one.tasks.includes(task))
  return {
    ...one,
    runbook: reading.runbook ?? rule.runbook,
    value: reading.value,
    says: (reading.says ?? one.says).slice(0, SAYS_MAX),
    severity: isAtLeast(one.severity, severity) ? one.severity : severity,
    tasks: fresh.length === 0 ? one.tasks : [...fresh, ...one.tasks].slice(0, TASKS_MAX),
  }
}

function fired(one: Alert, now: number, { takenBy }: Reading): Alert {
  const firing: Alert = {
    ...one,
    state: { status: 'firing', since: now },
    episode: one.episode + 1,
    firedAt: now,
    told: {},
  }
  const told = telling(firing, 'alert.fired', { actor: SERVICE, reason: firing.says }, {})
  if (takenBy === undefined) return told
  return acknowledged(told, { actor: takenBy, reason: 'The work order was taken.' }, now) ?? told
}

/** It is no longer above, or nobody watches it. One that never fired is over without a word. */
export function over(one: Alert, now: number, because: 'recovered' | 'rule_gone'): Alert | null {
  if (one.state.status === 'resolved') return null
  const { firedAt } = one
  const ended: Alert = { ...one, state: { status: 'resolved', since: now, because }, tasks: [] }
  if (firedAt === null) return ended
  const past = [...one.past, { firedAt, resolvedAt: now }].slice(-PAST_MAX)
  const reason = because === 'recovered' ? `It is over: ${one.says}` : 'Its rule was switched off or removed.'
  return telling({ ...ended, past }, 'alert.resolved', { actor: SERVICE, reason }, { because, firingMs: now - firedAt })
}

/** An operator is at it. Null if somebody is already. */
export function acknowledged(one: Alert, { actor, reason }: By, now: number): Alert | null {
  if (one.state.status === 'acknowledged') return null
  if (one.state.status !== 'firing') {
    throw new ConflictError(`Alert ${one.id} is ${one.state.status}. Only one that is firing can be acknowledged.`)
  }
  const state = { status: 'acknowledged', since: now, by: actor, reason } as const
  return telling({ ...one, state }, 'alert.acknowledged', { actor, reason }, {})
}

/** What decides who is told. */
export interface Circumstances {
  readonly channels: readonly Channel[]
  readonly silences: readonly Silence[]
  /** Whether alerts of another rule tell the same already. */
  readonly isInhibited: boolean
  readonly now: number
}

/** By what silences find it. */
export const labelsOf = ({ rule, severity, group }: Pick<Alert, 'rule' | 'severity' | 'group'>) => ({
  ...group,
  rule,
  severity,
})

/** Tells every channel what it is to hear now. Null if there is nothing to tell. */
export function notified(one: Alert, circumstances: Circumstances): Alert | null {
  let next = one
  for (const channel of circumstances.channels) {
    const what = noticeFor(one, channel, circumstances)
    if (what !== null) next = toldTo(next, channel, what, circumstances.now)
  }
  // Who is not there any more need not hear the end.
  const ids = new Set(circumstances.channels.map(({ id }) => id))
  const known = Object.entries(next.told).filter(([id]) => ids.has(id))
  if (known.length < Object.keys(next.told).length) next = { ...next, told: Object.fromEntries(known) }
  return next === one ? null : next
}

function noticeFor(one: Alert, channel: Channel, { silences: all, isInhibited, now }: Circumstances): Notice | null {
  const { state, firedAt, severity } = one
  const told = one.told[channel.id]
  if (state.status === 'resolved') return told !== undefined && told.what !== 'resolved' ? 'resolved' : null
  if (state.status === 'acknowledged') return told?.what === 'firing' ? 'acknowledged' : null
  if (state.status === 'pending' || firedAt === null) return null
  const dueAt =
    told === undefined ? firedAt + channel.afterMs : told.at + (channel.remindMs ?? Number.POSITIVE_INFINITY)
  // What costs the most comes last: most alerts are told already.
  if (now < dueAt || isInhibited || !takesAlerts(channel, one) || isQuiet(channel, severity, now)) return null
  return all.some((silence) => silences(silence, labelsOf(one), now)) ? null : 'firing'
}

const TOLD_WHAT: Readonly<Record<Notice, string>> = {
  firing: '',
  acknowledged: ' that somebody is at it',
  resolved: ' that it is over',
}

function toldTo(one: Alert, { id, name }: Channel, what: Notice, at: number): Alert {
  const count = (one.told[id]?.count ?? 0) + 1
  const told = { ...one.told, [id]: { what, at, count } }
  const notice = `${one.id}.${one.episode}.${count}`
  const reason = `${count > 1 && what === 'firing' ? 'Told again' : 'Told'} ${name}${TOLD_WHAT[what]}: ${one.says}`
  return telling({ ...one, told }, 'alert.told', { actor: SERVICE, reason }, { channel: id, notice, what, count })
}

/** The document with an entry about it for the journal. What is about a tenant is not that tenant's to see. */
function telling(one: Alert, type: JournalType, by: By, data: JournalEntryInput['data']): Alert {
  const { id, rule, state, severity, value, says, runbook, firedAt, group, episode } = one
  const { tenant, ...labels } = group
  const about = {
    alert: id,
    rule,
    status: state.status,
    severity,
    value,
    says,
    runbook,
    firedAt,
    episode,
    ...labels,
    ...(tenant === undefined ? {} : { ofTenant: tenant }),
    ...data,
  }
  const entry = { type, taskId: null, attempt: null, actor: by.actor, reason: by.reason.slice(0, 1_000), data: about }
  return { ...one, untold: [...one.untold, entry] }
}
