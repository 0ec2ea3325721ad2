// Watches the figures of the store by the alert rules, moves alerts, and orders channels to be told. One document says when the next
// round is due: of any number of these, one takes each round. A round that is cut off anywhere is made up for by the next: figures are
// read anew, each step of an alert happens once by its version, and the order to tell a channel is part of that step.

import {
  type Alert,
  type AlertRule,
  alertId,
  alertOver,
  alertRules,
  alertsIn,
  allPages,
  CHANNELS_MAX,
  type Channel,
  type Collection,
  channelsIn,
  check,
  type Engine,
  getOrInsert,
  isActive,
  isRepriseError,
  newAlert,
  notifiedAlert,
  observedAlert,
  PAGE_LIMIT_MAX,
  refuseNoEngine,
  type Service,
  SILENCES_MAX,
  type Silence,
  type Stored,
  silencesIn,
  stepAlert,
  stepDocument,
  stepOrMakeAlert,
  systemClock,
  tellLeftovers,
  turnsOf,
} from '@reprise/core'
import { readFigure } from './alert-readings.ts'
import { GroupRoom, type Look, type ReadingPorts } from './reading-ports.ts'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'
import { SERVICE_CHECKS } from './service-checks.ts'

export interface AlertsOptions extends ServiceOptions, Pick<ReadingPorts, 'retryFailures'> {
  readonly engine: ReadingPorts['engine'] & Pick<Engine, 'now'>
  readonly intervalMs?: number
}

/** When the next round is due, and when alerts of each rule last fired. */
interface Rounds {
  readonly id: string
  readonly dueAt: number
  readonly firedAt: Readonly<Record<string, number>>
}

const INTERVAL_MS = 2_000
const ROUNDS_ID = 'rounds'
/** Of its window, how much passes before a rule is looked at again. */
const WINDOW_SHARE = 60
/** Alerts that are over are kept for people to look at. */
const KEPT_MS = 30 * 86_400_000
const REMOVED_AT_ONCE = 50
/** For as many of its windows a rule is not told after one fired that says the same. What is above even then is news. */
const INHIBITED_WINDOWS = 2

const CHECKS: check.Table<AlertsOptions> = { ...SERVICE_CHECKS, intervalMs: check.ms, retryFailures: check.func }

const roundsIn = (engine: Pick<Engine, 'collection'>): Collection<Rounds> =>
  engine.collection<Rounds>({ name: 'alert-rounds', indexes: {} })

export function createAlerts(options: AlertsOptions): Service {
  check.options(options, CHECKS, 'alerts option')
  const { engine, intervalMs = INTERVAL_MS } = options
  refuseNoEngine(engine, 'collection', 'createAlerts')
  const around = surroundings('alerts', options)
  return createLoop('alerts', around, () => {
    const lookedAt = new Map<string, number>()
    const places = new Map<string, string>()
    const { onError } = around
    return {
      async round() {
        const now = await engine.now()
        if (await isOurs(engine, now, intervalMs)) await alertRound(options, { now, lookedAt, places, onError })
        return jitteredMs(intervalMs, around.random)
      },
    }
  })
}

/** When somebody last looked at the rules of this store; null if nobody ever did. */
export async function alertsWatchedAt(engine: Pick<Engine, 'collection'>): Promise<number | null> {
  const { dueAt = 0 } = (await roundsIn(engine).get(ROUNDS_ID))?.document ?? {}
  return dueAt === 0 ? null : dueAt
}

const standing = (engine: Pick<Engine, 'collection'>): Promise<Stored<Rounds>> =>
  getOrInsert(roundsIn(engine), ROUNDS_ID, () => ({ id: ROUNDS_ID, dueAt: 0, firedAt: {} }))

/** Whether a round is due, and nobody else takes it. */
async function isOurs(engine: AlertsOptions['engine'], now: number, intervalMs: number): Promise<boolean> {
  const rounds = roundsIn(engine)
  const { document, version } = await standing(engine)
  // A clock that was set back must not stop the rounds.
  if (document.dueAt > now && document.dueAt <= now + intervalMs) return false
  try {
    await rounds.update({ ...document, dueAt: now + Math.floor(intervalMs / 2) }, version)
    return true
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return false
    throw error
  }
}

export interface AlertRound {
  readonly now: number
  /** When this process last looked at each rule; rules with a long window are looked at less often. */
  readonly lookedAt?: Map<string, number>
  /** How far this process has come with what it goes over bit by bit. */
  readonly places?: Map<string, string>
  readonly onError?: (error: unknown) => void
}

/** One round: reads every figure, moves the alerts, and orders what is to be told. */
export async function alertRound(
  options: AlertsOptions,
  { now, lookedAt = new Map(), places = new Map(), onError = rethrow }: AlertRound,
): Promise<void> {
  const { engine } = options
  await tellLeftovers(engine.journal, alertsIn(engine), now)
  const rules = await alertRules(engine)
  const open = await unfinished(engine)
  for (const rule of rules.filter(({ enabled }) => enabled)) {
    const passedMs = now - (lookedAt.get(rule.name) ?? Number.NEGATIVE_INFINITY)
    // Negative if the clock was set back: that must not stop the looks.
    if (passedMs >= 0 && passedMs < rule.windowMs / WINDOW_SHARE) continue
    lookedAt.set(rule.name, now)
    // A figure that can't be read says nothing about others, nor about its own alerts.
    await look(options, rule, { now, open }).catch(onError)
  }
  const watched = new Set(rules.filter(({ enabled }) => enabled).map(({ name }) => name))
  for (const { id, rule } of open.values()) {
    if (!watched.has(rule)) await stepAlert(engine, id, (one) => alertOver(one, now, 'rule_gone'))
  }
  await tellChannels(options, new Map(rules.map((rule) => [rule.name, rule])), { now, onError })
  await removeOld(engine, now, places)
}

function rethrow(error: unknown): never {
  throw error
}

async function unfinished(engine: AlertsOptions['engine']): Promise<ReadonlyMap<string, Alert>> {
  const alerts = alertsIn(engine)
  const find = { index: 'unfinished', value: 'yes' }
  const { items } = await allPages((page) => alerts.find({ ...page, ...find }), PAGE_LIMIT_MAX * 10)
  return new Map(items.map(({ document }) => [document.id, document]))
}

async function look(options: AlertsOptions, rule: AlertRule, { now, open }: Look): Promise<void> {
  const { engine } = options
  const readings = await readFigure(options, rule, { now, open })
  const above = readings.filter(({ value }) => value > rule.above)
  const seen = new Set<string>()
  const room = new GroupRoom(rule, { now, open })
  for (const reading of above) {
    const id = alertId(rule.name, reading.group)
    const known = open.get(id)
    if (known === undefined && !room.take(reading.whose)) continue
    seen.add(id)
    // Most rounds change nothing, and write nothing.
    if (known !== undefined && observedAlert(known, rule, reading, now) === null) continue
    await stepOrMakeAlert(engine, newAlert(rule, reading.group, now), (one) => observedAlert(one, rule, reading, now))
  }
  for (const { id, rule: name, state } of open.values()) {
    if (name !== rule.name || seen.has(id) || state.status === 'resolved') continue
    await stepAlert(engine, id, (one) => observedAlert(one, rule, null, now))
  }
}

async function tellChannels(
  { engine, clock = systemClock }: AlertsOptions,
  rules: ReadonlyMap<string, AlertRule>,
  { now, onError }: Required<Pick<AlertRound, 'now' | 'onError'>>,
): Promise<void> {
  const open = await unfinished(engine)
  const firedAt = await noteFired(engine, [...open.values()])
  if (open.size === 0) return
  const { items: channels } = await channelsIn(engine).list({ limit: CHANNELS_MAX * 2 })
  const { items: silences } = await silencesIn(engine).list({ limit: SILENCES_MAX * 2 })
  const shared = { channels: documents<Channel>(channels), silences: documents<Silence>(silences), now }
  const turns = turnsOf(clock)
  for (const alert of open.values()) {
    if (turns.isSpent) await turns.wait()
    const rule = rules.get(alert.rule)
    const isInhibited =
      rule?.unless.some((name) => Math.abs(now - (firedAt[name] ?? 0)) <= rule.windowMs * INHIBITED_WINDOWS) ?? false
    const tell = (one: Alert): Alert | null => notifiedAlert(one, { ...shared, isInhibited })
    // One that can't be told says nothing about the others.
    if (tell(alert) !== null) await stepAlert(engine, alert.id, tell).catch(onError)
  }
}

const documents = <D>(stored: readonly { readonly document: D }[]): readonly D[] => stored.map((one) => one.document)

/** When alerts of each rule last fired: what they tell, others need not tell again for a while. */
async function noteFired(engine: AlertsOptions['engine'], open: readonly Alert[]): Promise<Rounds['firedAt']> {
  const { document } = await standing(engine)
  const latest: Record<string, number> = {}
  for (const { rule, firedAt } of open.filter(isActive)) latest[rule] = Math.max(latest[rule] ?? 0, firedAt ?? 0)
  const fresh = Object.fromEntries(Object.entries(latest).filter(([rule, at]) => at > (document.firedAt[rule] ?? 0)))
  if (Object.keys(fresh).length === 0) return document.firedAt
  const note = (one: Rounds): Rounds => ({ ...one, firedAt: { ...one.firedAt, ...fresh } })
  return (await stepDocument(roundsIn(engine), ROUNDS_ID, note))?.firedAt ?? document.firedAt
}

/**
 * Alerts and silences that were over long ago. By creation, a few at a time, and round again: those at the beginning may be there for
 * ever, because they come back again and again.
 */
async function removeOld(
  engine: AlertsOptions['engine'],
  now: number,
  places: NonNullable<AlertRound['places']>,
): Promise<void> {
  const alerts = alertsIn(engine)
  const cursor = places.get('alerts')
  const query = { index: 'status', value: 'resolved', limit: REMOVED_AT_ONCE }
  const { items, next } = await alerts.find({ ...query, ...(cursor === undefined ? {} : { cursor }) })
  if (next === null) places.delete('alerts')
  else places.set('alerts', next)
  for (const { document, version, updatedAt } of items) {
    if (updatedAt > now - KEPT_MS) continue
    await alerts.remove(document.id, version).catch((error: unknown) => refuseOtherThanChanged(error))
  }
  const silences = silencesIn(engine)
  const { items: old } = await silences.list({ limit: REMOVED_AT_ONCE })
  for (const { document } of old) if (document.until < now - KEPT_MS) await silences.remove(document.id)
}

function refuseOtherThanChanged(error: unknown): void {
  if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
}
