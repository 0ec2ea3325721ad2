// The worker registry: epochs, heartbeats, evidence of health, and who may claim how much.

import {
  type BeatReport,
  type BeatResult,
  type Health,
  type HealthThresholds,
  type JournalEntryInput,
  NotFoundError,
  type ProbeReport,
  WorkerFencedError,
  type WorkerId,
  type WorkerRegistration,
  type WorkerView,
} from '@reprise/core'
import {
  assessHealth,
  checkBatch,
  DEPARTED_MAX,
  DEPARTED_MS,
  type HealthEvidence,
  NO_OUTCOMES,
  type Outcome,
  type Outcomes,
  replacedEntry,
  takesBackLosses,
  WORKER_SILENT_MS,
  withOutcomes,
  workerEntry,
} from '@reprise/core/engine'
import type { Database } from './database.ts'
import type { Transaction } from './transaction.ts'

export interface WorkerRow {
  readonly id: WorkerId
  readonly epoch: number
  readonly registration: string
  readonly registered_at: number
  readonly last_beat_at: number
  readonly in_flight: number
  readonly queue_depth: number
  readonly loop_lag_ms: number
  readonly memory_bytes: number
  readonly draining: number
  readonly consecutive_failures: number
  readonly recent_outcomes: number
  readonly recent_failures: number
  readonly last_failure_at: number | null
  readonly last_progress_at: number
  readonly quiet_ms_max: number
  readonly outlook: string | null
  readonly probe_failures: number
  /** Failures by tenant, and whom it served well, as JSON; null if there is nothing to tell. */
  readonly by_tenant: string | null
  readonly policy_version: number | null
  /** How much lies in its inbox; missing where that was not asked for. */
  readonly inbox?: number
}

export interface DepartedRow {
  readonly id: WorkerId
  readonly epoch: number
  readonly registration: string
  readonly registered_at: number
  readonly left_at: number
}

export type StoredRegistration = Omit<WorkerRegistration, 'worker'>

export function register(transaction: Transaction, registration: WorkerRegistration): { readonly epoch: number } {
  const { db, now } = transaction
  const { worker, ...rest } = registration
  const epoch = transaction.nextToken()
  const before = db.get<WorkerRow>('findWorker', worker)
  const leases = takeLeasesAway(transaction, worker)
  db.run('saveWorker', worker, epoch, JSON.stringify(rest satisfies StoredRegistration), now)
  db.run('deleteDeparted', worker)
  transaction.journal(
    before === undefined
      ? workerEntry('worker.joined', { ...registration, epoch }, 'joined')
      : replacedEntry(worker, epoch, leases),
  )
  return { epoch }
}

export function beat(transaction: Transaction, report: BeatReport): BeatResult {
  const row = transaction.db.get<WorkerRow>('findWorker', report.worker)
  if (row === undefined) return { outcome: 'unknown' }
  if (row.epoch !== report.epoch) return { outcome: 'replaced' }
  const { inFlight, queueDepth, loopLagMs, memoryBytes, draining, maxQuietMs, outlook } = report
  takeBackLosses(transaction, row)
  transaction.db.run(
    'saveBeat',
    transaction.now,
    inFlight,
    queueDepth,
    loopLagMs,
    memoryBytes,
    draining ? 1 : 0,
    maxQuietMs,
    outlook,
    inFlight === 0 ? transaction.now : row.last_progress_at,
    report.policyVersion ?? null,
    report.worker,
  )
  return { outcome: 'current' }
}

/** The worker is heard of: after a silence, what was lost meanwhile no longer speaks against it. */
function takeBackLosses({ db, now }: Transaction, row: WorkerRow): void {
  const { last_beat_at: lastBeatAt, last_progress_at: lastProgressAt, last_failure_at: lastFailureAt } = row
  if (!takesBackLosses({ lastBeatAt, lastProgressAt, lastFailureAt }, now)) return
  const { servedWell } = evidenceOf(row)
  const byTenant = JSON.stringify({ failuresBy: [], servedWell } satisfies ByTenant)
  db.run('saveEvidence', 0, 0, 0, null, lastProgressAt, byTenant, row.id)
}

/** What active probes found. Reports of another epoch change nothing. */
export function probed(transaction: Transaction, reports: readonly ProbeReport[]): void {
  checkBatch(reports.length)
  for (const { worker, epoch, ok } of reports) transaction.db.run('saveProbe', worker, epoch, ok ? 1 : 0)
}

export function deregister(transaction: Transaction, worker: WorkerId, epoch: number): void {
  const row = transaction.db.get<WorkerRow>('findWorker', worker)
  if (row === undefined || row.epoch !== epoch) return
  const { db, now } = transaction
  takeLeasesAway(transaction, worker)
  db.run('deleteWorker', worker)
  db.run('saveDeparted', worker, epoch, row.registration, row.registered_at, now)
  db.run('thinOutDeparted', DEPARTED_MAX)
  transaction.journal(leftEntry(row, 'left'))
}

const leftEntry = (row: WorkerRow, reason: 'left' | 'silent'): JournalEntryInput =>
  workerEntry('worker.left', { ...registrationOf(row), worker: row.id, epoch: row.epoch }, reason)

/** Forgets workers that were not heard of for a day, and those that left as long ago. */
export function forgetWorkers(transaction: Transaction): void {
  const { db, now } = transaction
  for (const row of db.all<WorkerRow>('silentWorkers', now - WORKER_SILENT_MS, FORGOTTEN_MAX)) {
    db.run('deleteWorker', row.id)
    transaction.journal(leftEntry(row, 'silent'))
  }
  db.run('forgetDeparted', now - DEPARTED_MS, FORGOTTEN_MAX)
}

/** Gives every lease of this worker, but those it launched, a token that nobody holds, and lets it end now. */
function takeLeasesAway(transaction: Transaction, worker: WorkerId): number {
  const leases = transaction.db.all<{ seq: number }>('leasesOfWorker', worker)
  for (const { seq } of leases) transaction.db.run('takeLeaseAway', transaction.nextToken(), transaction.now, seq)
  return leases.length
}

export interface Admission {
  readonly row: WorkerRow
  /** The most this worker may take. */
  readonly limit: number
  readonly heldBack: 'unhealthy' | 'degraded' | null
  /** A claim that takes something is a sign of life. */
  tookWork(): void
}

/** Whether a worker may claim, and how much, which is not a matter of its health if any will do. Throws if it is unknown or was replaced. */
export function admit(
  transaction: Transaction,
  worker: WorkerId,
  epoch: number,
  thresholds: HealthThresholds,
  isAnyHealth: boolean,
): Admission {
  const { db, now } = transaction
  const row = db.get<WorkerRow>('findWorker', worker)
  if (row === undefined) throw new NotFoundError('worker', worker)
  if (row.epoch !== epoch) throw new WorkerFencedError(worker, epoch)
  const health = isAnyHealth || !thresholds.enabled ? 'healthy' : healthForClaim(transaction, row, thresholds)
  const tookWork = (): void => {
    if (row.last_beat_at === now) return
    takeBackLosses(transaction, row)
    db.run('saveSignOfLife', now, worker)
  }
  switch (health) {
    case 'healthy':
      return { row, limit: Number.MAX_SAFE_INTEGER, heldBack: null, tookWork }
    case 'degraded':
      return { row, limit: thresholds.maxDegradedClaim, heldBack: 'degraded', tookWork }
    case 'unhealthy':
      return { row, limit: 0, heldBack: 'unhealthy', tookWork }
  }
}

/** What lies in its own inbox does not count: it is what this claim takes first. */
function healthForClaim(transaction: Transaction, row: WorkerRow, thresholds: HealthThresholds): Health['status'] {
  const { now } = transaction
  const evidence = evidenceOf(row)
  const { status } = assessHealth({ ...evidence, lastBeatAt: now }, now, thresholds)
  if (status !== 'unhealthy') return status
  // Only its failures speak against it? Then the last worker of a pool goes on, carefully: somebody must.
  const withoutFailures = { ...evidence, ...NO_OUTCOMES, lastBeatAt: now }
  if (assessHealth(withoutFailures, now, thresholds).status === 'unhealthy') return status
  const pools = new Set(registrationOf(row).pools)
  const hasBetterPeer = allWorkers(transaction).some((peer) => {
    if (peer.id === row.id || !registrationOf(peer).pools.some((pool) => pools.has(pool))) return false
    return assessHealth(evidenceOf(peer), now, thresholds).status !== 'unhealthy'
  })
  return hasBetterPeer ? status : 'degraded'
}

/** A worker with what lies in its inbox. */
export function workerWithInbox(db: Database, id: WorkerId): WorkerRow | undefined {
  const row = db.get<WorkerRow>('findWorker', id)
  return row === undefined ? undefined : { ...row, inbox: db.get<{ depth: number }>('inboxDepth', id)?.depth ?? 0 }
}

const WORKERS_MAX = 10_000
const FORGOTTEN_MAX = 1_000

export function allWorkers(transaction: Transaction): WorkerRow[] {
  return transaction.db.all<WorkerRow>('listWorkers', '', WORKERS_MAX)
}

/** Adds how some of a worker's attempts ended to what speaks for or against it. */
export function addOutcomes(
  transaction: Transaction,
  worker: WorkerId,
  outcomes: readonly Outcome[],
  hasProgressed: boolean,
): void {
  const row = transaction.db.get<WorkerRow>('findWorker', worker)
  if (row === undefined) return
  const next = withOutcomes(evidenceOf(row), outcomes, transaction.now)
  transaction.db.run(
    'saveEvidence',
    next.consecutiveFailures,
    next.recentOutcomes,
    next.recentFailures,
    next.lastFailureAt,
    hasProgressed ? transaction.now : row.last_progress_at,
    JSON.stringify({ failuresBy: next.failuresBy, servedWell: next.servedWell } satisfies ByTenant),
    worker,
  )
}

export function registrationOf(row: Pick<WorkerRow, 'registration'>): StoredRegistration {
  // A row of an earlier layout knows no endpoint.
  return { endpoint: null, ...(JSON.parse(row.registration) as Omit<StoredRegistration, 'endpoint'>) }
}

type ByTenant = Pick<Outcomes, 'failuresBy' | 'servedWell'>

const NOTHING_BY_TENANT: ByTenant = { failuresBy: [], servedWell: [] }

/** What lies in its inbox counts only if the row tells of it. */
export function evidenceOf(row: WorkerRow): HealthEvidence {
  return {
    ...(row.by_tenant === null ? NOTHING_BY_TENANT : (JSON.parse(row.by_tenant) as ByTenant)),
    lastBeatAt: row.last_beat_at,
    queueDepth: row.queue_depth + (row.inbox ?? 0),
    consecutiveFailures: row.consecutive_failures,
    recentOutcomes: row.recent_outcomes,
    recentFailures: row.recent_failures,
    lastFailureAt: row.last_failure_at,
    inFlight: row.in_flight,
    loopLagMs: row.loop_lag_ms,
    maxQuietMs: row.quiet_ms_max,
    outlook: row.outlook,
    lastProgressAt: row.last_progress_at,
    probeFailures: row.probe_failures,
  }
}

export function workerViewOf(row: WorkerRow, now: number, thresholds: HealthThresholds): WorkerView {
  return {
    ...registrationOf(row),
    ...evidenceOf(row),
    worker: row.id,
    epoch: row.epoch,
    registeredAt: row.registered_at,
    memoryBytes: row.memory_bytes,
    draining: row.draining === 1,
    policyVersion: row.policy_version,
    health: assessHealth(evidenceOf(row), now, thresholds),
  }
}
