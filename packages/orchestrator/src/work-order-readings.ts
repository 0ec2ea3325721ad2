// The figures about work orders: which causes have one that is open, whether they are made in time, and whether outside systems have
// their tickets.

import {
  type AlertRule,
  alertId,
  allPages,
  type Fingerprint,
  failingTickets,
  mapLimited,
  type Reading,
  SEVERITIES,
  type Severity,
  type WorkOrder,
  workOrdersIn,
} from '@reprise/core'
import { AT_ONCE, count, GroupRoom, type Look, type ReadingPorts } from './reading-ports.ts'
import { workOrdersBehindMs } from './work-orders.ts'

/** A policy may want one for each task. */
const WORK_ORDERS_MAX = 10_000

/** One for each cause, also where the policy wants a work order for each task: nobody is called a thousand times for one cause. */
export async function deadLetters(
  { engine }: ReadingPorts,
  rule: AlertRule,
  { open, now }: Look,
): Promise<readonly Reading[]> {
  const orders = workOrdersIn(engine)
  const found = await allPages((page) => orders.find({ ...page, index: 'live', value: 'yes' }), WORK_ORDERS_MAX)
  const causes = Map.groupBy(
    found.items.map(({ document }) => document),
    ({ id, subject }) => (subject.kind === 'group' ? id : subject.fingerprint),
  )
  const all = [...causes.values()].map((family): Cause => ({ ...aboutOrders(family), family }))
  const isKnown = ({ reading }: Cause): boolean => open.has(alertId(rule.name, reading.group))
  const known = all.filter(isKnown)
  const fresh = all.filter((one) => !isKnown(one))
  const told = await mapLimited(inShares(rule, { open, now }, fresh), AT_ONCE, async ({ reading, family }) => ({
    ...reading,
    says: await deadSays(engine, family),
  }))
  const readings = [...known.map(({ reading }) => reading), ...told]
  return found.isComplete ? readings : [...readings, ...unseen(rule, open, readings)]
}

interface Cause {
  readonly reading: Reading
  readonly family: readonly WorkOrder[]
}

/** Work orders of one cause: at least one. */
function aboutOrders(family: readonly WorkOrder[]): Pick<Cause, 'reading'> {
  const [{ id, action, subject }] = family as readonly [WorkOrder, ...WorkOrder[]]
  const { fingerprint } = subject
  const group = { ...(subject.kind === 'group' ? { workOrder: id } : {}), fingerprint, action }
  const severity = family
    .map((one) => one.severity)
    .toSorted(bySeverity)
    .at(-1)
  const runbook = family.find((one) => one.runbook !== null)?.runbook
  const taken = family.flatMap(({ state }) => (state.status === 'in_progress' ? [state.by] : [])).at(-1)
  const reading = {
    group,
    value: 1,
    ...(severity === undefined ? {} : { severity }),
    ...(runbook == null ? {} : { runbook }),
    ...(taken === undefined ? {} : { takenBy: taken }),
  }
  return { reading }
}

const bySeverity = (a: Severity, b: Severity): number => SEVERITIES.indexOf(a) - SEVERITIES.indexOf(b)

/** Of very many, the worst are told of first, and of those that are as bad, the newest. */
function worstFirst(causes: readonly Cause[]): readonly Cause[] {
  const latest = ({ family }: Cause): number => Math.max(...family.map(({ lastDeathAt }) => lastDeathAt))
  const worst = ({ reading }: Cause): Severity => reading.severity ?? 'low'
  return causes.toSorted((a, b) => bySeverity(worst(b), worst(a)) || latest(b) - latest(a))
}

/**
 * Those that there is room for: of each tenant the worst first. A cause of several takes the share of the one that has used least,
 * so that nobody can make another's cause their own to keep it quiet.
 */
function inShares(rule: AlertRule, look: Look, fresh: readonly Cause[]): readonly Cause[] {
  const room = new GroupRoom(rule, look)
  return worstFirst(fresh).flatMap((cause) => {
    const [whose] = tenantsOf(cause).toSorted((a, b) => room.takenBy(a) - room.takenBy(b))
    if (!room.take(whose)) return []
    return [whose === undefined ? cause : { ...cause, reading: { ...cause.reading, whose } }]
  })
}

const tenantsOf = ({ family }: Cause): readonly string[] => [
  ...new Set(family.flatMap(({ tenants, subject }) => tenants ?? (subject.kind === 'task' ? [subject.tenant] : []))),
]

/** Alerts of the rule that were not read, because there was too much to read: nobody knows that they are over. */
function unseen(rule: AlertRule, open: Look['open'], readings: readonly Reading[]): readonly Reading[] {
  const seen = new Set(readings.map(({ group }) => alertId(rule.name, group)))
  return [...open.values()]
    .filter((one) => one.rule === rule.name && one.state.status !== 'resolved' && !seen.has(one.id))
    .map(({ group, value }) => ({ group, value }))
}

async function deadSays(engine: ReadingPorts['engine'], family: readonly WorkOrder[]): Promise<string> {
  const [{ subject, action, tasks }] = family as readonly [WorkOrder, ...WorkOrder[]]
  const { items } = await engine.failureGroups({ fingerprint: subject.fingerprint as Fingerprint, limit: 1 })
  const [group] = items
  const what = group === undefined ? '' : ` of ${group.sample.code}: ${group.sample.message.slice(0, 200)}`
  if (subject.kind === 'task' && family.length === 1) return `${action}: task ${subject.taskId} died${what}`
  return `${action}: ${count(group?.count ?? Math.max(tasks.length, family.length), 'task')} died${what}`
}

export async function lateWorkOrders(
  { engine }: ReadingPorts,
  _: AlertRule,
  { now }: Look,
): Promise<readonly Reading[]> {
  const behindMs = await workOrdersBehindMs(engine, now)
  const seconds = Math.floor(behindMs / 1_000)
  return [{ group: {}, value: seconds, says: `No work order was made for dead letters of the last ${seconds} s.` }]
}

export async function unpushedWorkOrders({ engine }: ReadingPorts): Promise<readonly Reading[]> {
  return [...(await failingTickets(engine))].map(([system, tickets]) => {
    const error = tickets.at(-1)?.failing?.error ?? ''
    const says = `${count(tickets.length, 'work order')} could not be made in ${system}: ${error}`
    return { group: { system }, value: tickets.length, says }
  })
}
