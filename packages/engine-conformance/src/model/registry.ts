// The worker registry: epochs, what workers report about themselves, what the store itself saw of them, and what a
// claim makes of it.

import {
  type BeatReport,
  type BeatResult,
  type DepartedWorker,
  type Health,
  type HealthStatus,
  type LeaseStage,
  NotFoundError,
  type Page,
  type PageRequest,
  type ProbeReport,
  type WorkerBuild,
  WorkerFencedError,
  type WorkerId,
  type WorkerRegistration,
  type WorkerView,
} from '@reprise/core'
import {
  assessHealth,
  DEPARTED_MS,
  departedCursor,
  NO_OUTCOMES,
  type Outcome,
  pageLimit,
  replacedEntry,
  takesBackLosses,
  withOutcomes,
  workerEntry,
} from '@reprise/core/engine'
import { checkBatch } from './checks.ts'
import { note } from './journal.ts'
import { retoken } from './leases.ts'
import type { State, WorkerRecord } from './state.ts'

export function register(state: State, registration: WorkerRegistration): { readonly epoch: number } {
  const { worker, pools, actions, host, version, runtimes, endpoint, concurrency } = registration
  const wasKnown = state.workers.has(worker)
  const epoch = ++state.tokenLast
  state.workers.set(worker, {
    worker,
    pools: [...pools],
    actions: actions === null ? null : [...actions],
    host,
    version,
    runtimes: [...runtimes],
    endpoint,
    ...(concurrency === undefined ? {} : { concurrency }),
    epoch,
    registeredAt: state.now,
    lastBeatAt: state.now,
    inFlight: 0,
    queueDepth: 0,
    loopLagMs: 0,
    memoryBytes: 0,
    draining: false,
    policyVersion: null,
    ...NO_OUTCOMES,
    lastProgressAt: state.now,
    maxQuietMs: 0,
    outlook: null,
    probeFailures: 0,
  })
  state.departed.delete(worker)
  const leases = takeLeases(state, worker)
  note(
    state,
    wasKnown
      ? replacedEntry(worker, epoch, leases)
      : workerEntry('worker.joined', { worker, epoch, version, host }, 'joined'),
  )
  return { epoch }
}

/**
 * Nobody holds the new tokens: the leases end now, and only the sweep can settle them. What was launched is left alone: it
 * runs elsewhere, and goes on whatever becomes of its launcher.
 */
function takeLeases(state: State, worker: WorkerId): number {
  let taken = 0
  for (const task of state.tasks.values()) {
    if (task.state.status !== 'running' || task.state.worker !== worker) continue
    if (task.state.stage === 'launch') continue
    retoken(state, task, { leaseUntil: state.now })
    taken++
  }
  return taken
}

/** By a beat, or by a claim that takes something. */
export function heard(state: State, record: WorkerRecord): void {
  if (takesBackLosses(record, state.now)) {
    Object.assign(record, { ...NO_OUTCOMES, servedWell: record.servedWell })
  }
  record.lastBeatAt = state.now
}

export function beat(state: State, report: BeatReport): BeatResult {
  const record = state.workers.get(report.worker)
  if (record === undefined) return { outcome: 'unknown' }
  if (record.epoch !== report.epoch) return { outcome: 'replaced' }
  const { inFlight, queueDepth, loopLagMs, memoryBytes, draining, maxQuietMs, outlook } = report
  heard(state, record)
  Object.assign(record, { inFlight, queueDepth, loopLagMs, memoryBytes, draining, maxQuietMs, outlook })
  record.policyVersion = report.policyVersion ?? null
  if (inFlight === 0) record.lastProgressAt = state.now
  return { outcome: 'current' }
}

export function probed(state: State, reports: readonly ProbeReport[]): void {
  checkBatch(reports, 'probe reports')
  for (const { worker, epoch, ok } of reports) {
    const record = state.workers.get(worker)
    if (record?.epoch === epoch) record.probeFailures = ok ? 0 : record.probeFailures + 1
  }
}

export function deregister(state: State, worker: WorkerId, epoch: number): void {
  const record = state.workers.get(worker)
  if (record?.epoch !== epoch) return
  const { pools, actions, host, version, runtimes, endpoint, concurrency, registeredAt } = record
  state.departed.set(worker, {
    worker,
    pools,
    actions,
    host,
    version,
    runtimes,
    endpoint,
    ...(concurrency === undefined ? {} : { concurrency }),
    epoch,
    registeredAt,
    leftAt: state.now,
  })
  state.workers.delete(worker)
  takeLeases(state, worker)
  note(state, workerEntry('worker.left', record, 'left'))
}

export function currentWorker(state: State, worker: WorkerId, epoch: number): WorkerRecord {
  const record = state.workers.get(worker)
  if (record === undefined) throw new NotFoundError('worker', worker)
  if (record.epoch !== epoch) throw new WorkerFencedError(worker, epoch)
  return record
}

/** One more attempt of this worker has ended, well or badly. */
export function witness(state: State, worker: WorkerId, outcome: Outcome): void {
  const record = state.workers.get(worker)
  if (record !== undefined) Object.assign(record, withOutcomes(record, [outcome], state.now))
}

/** This worker got something done, or at least out of its hands. */
export function progressed(state: State, worker: WorkerId): void {
  const record = state.workers.get(worker)
  if (record !== undefined) record.lastProgressAt = state.now
}

/**
 * How a claim treats this worker: as its health says, except that somebody must go on. A claim is a sign of life, and takes what lies
 * in the inbox first: that does not count.
 */
export function claimHealth(state: State, worker: WorkerRecord, isAnyHealth: boolean): HealthStatus {
  if (isAnyHealth || !state.healthThresholds.enabled) return 'healthy'
  const evidence = { ...worker, lastBeatAt: state.now }
  const { status } = assess(state, evidence)
  if (status !== 'unhealthy') return status
  const withoutFailures = { ...evidence, ...NO_OUTCOMES }
  if (assess(state, withoutFailures).status === 'unhealthy') return 'unhealthy'
  const hasHelp = [...state.workers.values()].some(
    (other) =>
      other !== worker &&
      other.pools.some((pool) => worker.pools.includes(pool)) &&
      healthOf(state, other).status !== 'unhealthy',
  )
  return hasHelp ? 'unhealthy' : 'degraded'
}

export const healthOf = (state: State, worker: WorkerRecord): Health => assess(state, withInbox(state, worker))

const assess = (state: State, worker: WorkerRecord): Health => assessHealth(worker, state.now, state.healthThresholds)

/** What lies in its inbox waits inside it. */
function withInbox(state: State, worker: WorkerRecord): WorkerRecord {
  const inbox = [...state.tasks.values()].filter(
    ({ state: at }) => at.status === 'running' && at.stage === 'inbox' && at.worker === worker.worker,
  )
  return { ...worker, queueDepth: worker.queueDepth + inbox.length }
}

export function workerViews(state: State): WorkerView[] {
  return [...state.workers.values()]
    .sort((a, b) => (a.worker < b.worker ? -1 : 1))
    .map((worker) => ({ ...withInbox(state, worker), health: healthOf(state, worker) }))
}

export function workers(state: State, page: PageRequest = {}): Page<WorkerView> {
  const limit = pageLimit(page)
  const { cursor } = page
  const rest = workerViews(state).filter(({ worker }) => cursor === undefined || worker > cursor)
  const items = rest.slice(0, limit)
  return { items, next: rest.length > limit ? (items.at(-1)?.worker ?? null) : null }
}

/** The latest first, and of those that left at the same moment the last by id. */
export function departed(state: State, page: PageRequest = {}): Page<DepartedWorker> {
  const limit = pageLimit(page)
  const { cursor } = page
  const all = [...state.departed.values()]
    .filter(({ leftAt }) => state.now - leftAt < DEPARTED_MS)
    .sort((a, b) => b.leftAt - a.leftAt || (a.worker < b.worker ? 1 : -1))
  const from = cursor === undefined ? 0 : all.findIndex((one) => departedCursor(one) === cursor) + 1
  const items = all.slice(from, from + limit)
  const last = items.at(-1)
  return { items, next: all.length > from + limit && last !== undefined ? departedCursor(last) : null }
}

/** What the worker of an attempt of this stage registered, as its record keeps it. */
export function buildOf(state: State, worker: WorkerId, stage: LeaseStage): WorkerBuild | null {
  const record = stage === 'run' || stage === 'inbox' ? state.workers.get(worker) : undefined
  if (record === undefined) return null
  const { version, host, runtimes } = record
  return { version, host, runtimes }
}
