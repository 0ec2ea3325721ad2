// How the figures that alert rules watch are read, from what the store keeps anyway. Each metric is one function: it gives a reading
// for each group. What is not above its threshold may be left out. Every look is bounded.

import {
  type AlertMetric,
  type AlertRule,
  allPages,
  isUnwell,
  mapLimited,
  PAGE_LIMIT_MAX,
  type Reading,
  type Scope,
  SERIES_STEP_MS,
  type SeriesPoint,
  type TaskId,
} from '@reprise/core'
import { AT_ONCE, count, GROUPS_MAX, type Look, type Read, type ReadingPorts } from './reading-ports.ts'
import { deadLetters, lateWorkOrders, unpushedWorkOrders } from './work-order-readings.ts'

/** Of fewer attempts, a share says little. */
const ATTEMPTS_MIN = 10
const LANES_MAX = 10_000
const WORKERS_MAX = 10_000
/** A worker that was silent this long is gone: it says nothing about those that are there. */
const GONE_MS = 300_000
/** As often a task has to fail, to be a reason for an alert before it is dead. */
const FAILURES_MIN = 2
const ACTIONS_LOOKED_AT = 50
const TASKS_LOOKED_AT = 200

export function readFigure(ports: ReadingPorts, rule: AlertRule, look: Look): Promise<readonly Reading[]> {
  return READERS[rule.metric](ports, rule, look)
}

const READERS: Readonly<Record<AlertMetric, Read>> = {
  dead_letters: deadLetters,
  repeated_failures: repeatedFailures,
  new_cause: newCauses,
  breaker_open: openBreakers,
  unhealthy_workers: unhealthyWorkers,
  work_orders_late: lateWorkOrders,
  work_orders_unpushed: unpushedWorkOrders,
  retry_failure_rate: retryFailureRate,
  retry_rate: ofSeries((sum, span) =>
    shareOf(sum.retried, ended(sum), (share) => `${share} attempts that ended in ${span} had to be tried again.`),
  ),
  failure_rate: ofSeries((sum, span) =>
    shareOf(sum.failed + sum.lost, ended(sum), (share) => `${share} attempts that ended in ${span} failed.`),
  ),
  dead_letter_rate: ofSeries((sum, span, { windowMs }) => ({
    value: sum.dead / (windowMs / SERIES_STEP_MS),
    says: `${count(sum.dead, 'task')} ended as dead letters in ${span}.`,
  })),
  no_success: ofSeries(absence),
  queued: ofCounts('queued', 'tasks are queued'),
  dead: ofCounts('dead', 'dead letters wait for a decision'),
}

/** A task that runs again is neither waiting nor over: what was found once is kept until it has ended. */
async function repeatedFailures(
  { engine }: ReadingPorts,
  rule: AlertRule,
  { open }: Look,
): Promise<readonly Reading[]> {
  const { items: lanes } = await allPages((page) => engine.lanes(page), LANES_MAX)
  const waiting = lanes
    .filter(({ counts }) => counts.waiting > 0)
    .toSorted((a, b) => b.counts.waiting - a.counts.waiting)
  const actions = [...new Set(waiting.map(({ action }) => action))].slice(0, ACTIONS_LOOKED_AT)
  const found = new Map<string, Reading>()
  await mapLimited(actions, AT_ONCE, async (action) => {
    const { items } = await engine.tasks({ action, status: 'waiting', limit: TASKS_LOOKED_AT, light: true })
    const failing = items.filter(({ failures, losses }) => failures + losses >= FAILURES_MIN)
    if (failing.length === 0) return
    const says = `${action}: ${count(failing.length, 'task')} failed ${FAILURES_MIN} times or more, and will be tried again.`
    found.set(action, { group: { action }, value: failing.length, says, tasks: failing.map(({ id }) => id) })
  })
  for (const { rule: name, group, tasks } of open.values()) {
    const { action = '' } = group
    if (name !== rule.name || found.has(action)) continue
    const left = await unended(engine, tasks)
    if (left > 0) found.set(action, { group, value: left })
  }
  return [...found.values()]
}

async function unended(engine: ReadingPorts['engine'], tasks: readonly TaskId[]): Promise<number> {
  if (tasks.length === 0) return 0
  const statuses = await engine.statuses(tasks)
  return statuses.filter((status) => status === 'queued' || status === 'waiting' || status === 'running').length
}

async function newCauses(
  { engine }: ReadingPorts,
  { windowMs }: AlertRule,
  { now }: Look,
): Promise<readonly Reading[]> {
  const { items } = await engine.failureGroups({ limit: PAGE_LIMIT_MAX })
  return items
    .filter(({ firstAt }) => firstAt >= now - windowMs)
    .slice(0, GROUPS_MAX)
    .map(({ fingerprint, action, count: dead, sample }) => ({
      group: { fingerprint, action },
      value: dead,
      says: `${action}: a new cause of dead letters, ${sample.code}: ${sample.message.slice(0, 200)}`,
    }))
}

async function openBreakers({ engine }: ReadingPorts): Promise<readonly Reading[]> {
  const { items } = await engine.breakers({ limit: PAGE_LIMIT_MAX })
  return items
    .filter(({ state }) => state.status === 'open')
    .slice(0, GROUPS_MAX)
    .map(({ name, tenant, actions }) => ({
      group: { breaker: name, ...(tenant === null ? {} : { tenant }) },
      value: 1,
      says: `Breaker ${name} is open for ${tenant === null ? 'all tenants' : `tenant ${tenant}`}: ${count(actions.length, 'action')} held.`,
    }))
}

async function unhealthyWorkers({ engine }: ReadingPorts, _: AlertRule, { now }: Look): Promise<readonly Reading[]> {
  const { items } = await allPages((page) => engine.workers(page), WORKERS_MAX)
  const present = items.filter(({ lastBeatAt }) => now - lastBeatAt < GONE_MS)
  // Failing tasks make their workers unhealthy: that is told by the causes, and by the rates.
  const unhealthy = present.filter((worker) => isUnwell(worker, now, engine.healthThresholds)).length
  if (unhealthy === 0) return []
  const says = `${unhealthy} of ${count(present.length, 'worker')} unhealthy.`
  return [{ group: {}, value: unhealthy / present.length, says }]
}

async function retryFailureRate({ retryFailures }: ReadingPorts, { windowMs }: AlertRule): Promise<readonly Reading[]> {
  const found = (await retryFailures?.(windowMs)) ?? null
  if (found === null || found.ended < ATTEMPTS_MIN) return []
  const says = `${percent(found.share)} of the ${count(found.ended, 'retry', 'retries')} that ended in the last ${span(windowMs)} failed.`
  return [{ group: {}, value: found.share, says }]
}

type Sum = Readonly<Record<Exclude<keyof SeriesPoint, 'at'>, number>>
type OfSum = (sum: Sum, span: string, rule: AlertRule, isNamed: boolean) => Omit<Reading, 'group'> | null

/** A figure made of the minutes of the window, for each group. */
function ofSeries(figure: OfSum): Read {
  return async ({ engine }, rule, { now }) => {
    const from = Math.floor((now - rule.windowMs) / SERIES_STEP_MS) * SERIES_STEP_MS
    const groups = await groupsOf(engine, rule)
    const isNamed = rule.by === null
    const found = await mapLimited(groups, AT_ONCE, async ({ group, scope }) => {
      const points = await engine.series({ ...scope, from, to: now + 1 })
      const read = figure(sumOf(points), `the last ${span(rule.windowMs)}`, rule, isNamed)
      return read === null ? [] : [{ group, ...read, says: `${whose(group)}${read.says ?? ''}` }]
    })
    return found.flat()
  }
}

/** Nothing succeeded. Groups that were not named only count if something was there to do. */
function absence(sum: Sum, span_: string, _: AlertRule, isNamed: boolean): Omit<Reading, 'group'> | null {
  if (sum.succeeded > 0 || (!isNamed && sum.accepted + sum.failed + sum.lost === 0)) return null
  return { value: 1, says: `Nothing succeeded in ${span_}.` }
}

function ofCounts(which: 'queued' | 'dead', words: string): Read {
  return async ({ engine }, rule) => {
    const groups = await groupsOf(engine, rule)
    return mapLimited(groups, AT_ONCE, async ({ group, scope }) => {
      const { [which]: value } = await engine.counts(scope)
      return { group, value, says: `${whose(group)}${value.toLocaleString('en-US')} ${words}.` }
    })
  }
}

interface Group {
  readonly group: Readonly<Record<string, string>>
  readonly scope: Scope
}

/** What a rule is about: one thing, or each of the pools, actions or tenants that have lanes. */
async function groupsOf(engine: ReadingPorts['engine'], rule: AlertRule): Promise<readonly Group[]> {
  const { pool, action, tenant, by } = rule
  const named = Object.entries({ pool, action, tenant }).filter(([, name]) => name !== null)
  const scope = Object.fromEntries(named) as Scope
  if (by === null) return [{ group: Object.fromEntries(named) as Group['group'], scope }]
  const { items } = await allPages((page) => engine.lanes({ ...scope, ...page }), LANES_MAX)
  const names = [...new Set(items.map((lane) => lane[by]))].slice(0, GROUPS_MAX)
  return names.map((name) => ({ group: { [by]: name }, scope: { ...scope, [by]: name } }))
}

function sumOf(points: readonly SeriesPoint[]): Sum {
  const sum = { accepted: 0, started: 0, succeeded: 0, failed: 0, lost: 0, retried: 0, dead: 0, cancelled: 0 }
  for (const point of points) for (const name of Object.keys(sum) as (keyof Sum)[]) sum[name] += point[name]
  return sum
}

const ended = ({ succeeded, failed, lost }: Sum): number => succeeded + failed + lost

function shareOf(part: number, whole: number, says: (share: string) => string): Omit<Reading, 'group'> | null {
  if (whole < ATTEMPTS_MIN) return null
  return { value: part / whole, says: says(`${percent(part / whole)} of the ${whole.toLocaleString('en-US')}`) }
}

const percent = (share: number): string => `${Math.round(share * 100)} %`
const span = (ms: number): string => `${Math.round(ms / SERIES_STEP_MS)} min`
const whose = (group: Group['group']): string => {
  const names = Object.values(group)
  return names.length === 0 ? '' : `${names.join(', ')}: `
}
