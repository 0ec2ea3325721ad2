// The worker registry: epochs, what workers report about themselves, and what the store itself saw of them. A new epoch, and
// a goodbye, take away whatever leases the worker id still has.

import {
  type BeatReport,
  type BeatResult,
  type DepartedWorker,
  type HealthThresholds,
  type Page,
  type PageRequest,
  type ProbeReport,
  StoreFailedError,
  type TenantId,
  type WorkerId,
  type WorkerRegistration,
  type WorkerView,
} from '@reprise/core'
import { assessHealth, checkBatch, departedCursor, departedPlace, pageLimit } from '@reprise/core/engine'
import { BEAT, DEPARTED_ROW, ordered, PROBE, type REGISTERED, records, WORKER_ROW } from './layout.ts'
import { asTexts, type Partition } from './partition.ts'
import { buildMembers } from './records.ts'
import {
  beatScript,
  deregisterScript,
  findWorkersScript,
  listDepartedScript,
  listWorkersScript,
  probedScript,
  registerScript,
  takeOverScript,
} from './scripts.generated.ts'

/** In a store with several partitions `more` has the epoch and, for the home, how many leases were taken in the others. */
export async function registerThere(
  partition: Partition,
  registration: WorkerRegistration,
  more: readonly string[] = [],
): Promise<{ readonly epoch: number; readonly leases: number }> {
  partition.forget()
  const { worker, pools, actions, host, version, runtimes, endpoint, concurrency } = registration
  const [epoch, isDone, taken] = asTexts(
    await partition.once(registerScript, [
      worker,
      JSON.stringify(worker),
      JSON.stringify(pools),
      JSON.stringify(actions),
      host,
      version,
      JSON.stringify(runtimes),
      endpoint ?? '',
      concurrency === undefined ? '' : String(concurrency),
      buildMembers(registration),
      ...more,
    ]),
  )
  const leases = isDone === '1' ? Number(taken) : await takeOver(partition, worker)
  return { epoch: Number(epoch), leases }
}

export async function beat(partition: Partition, report: BeatReport): Promise<BeatResult> {
  const { worker, draining, outlook, policyVersion } = report
  const args = ordered(BEAT, {
    worker,
    epoch: String(report.epoch),
    inFlight: String(report.inFlight),
    queueDepth: String(report.queueDepth),
    loopLagMs: String(report.loopLagMs),
    memoryBytes: String(report.memoryBytes),
    maxQuietMs: String(report.maxQuietMs),
    draining: draining ? '1' : '0',
    outlook: outlook === null ? '' : `=${outlook}`,
    policyVersion: policyVersion === undefined ? '' : String(policyVersion),
  })
  const outcome = await partition.run(beatScript, args)
  if (outcome === 'current' || outcome === 'replaced' || outcome === 'unknown') return { outcome }
  throw new StoreFailedError('The store answered a heartbeat with something unexpected.')
}

export async function probed(partition: Partition, reports: readonly ProbeReport[]): Promise<void> {
  checkBatch(reports.length)
  if (reports.length === 0) return
  const args = reports.flatMap(({ worker, epoch, ok }) =>
    ordered(PROBE, { worker, epoch: String(epoch), answered: ok ? '1' : '' }),
  )
  await partition.once(probedScript, args)
}

export async function deregister(partition: Partition, worker: WorkerId, epoch: number): Promise<void> {
  const isDone = await partition.run(deregisterScript, [
    worker,
    JSON.stringify(worker),
    String(epoch),
    partition.position.place === 0 ? '1' : '',
  ])
  if (Number(isDone) !== 1) await takeOver(partition, worker)
}

/** A worker may hold very many leases; they are taken some at a time. Answers how many were. */
async function takeOver(partition: Partition, worker: WorkerId): Promise<number> {
  for (;;) {
    const [isDone, taken] = asTexts(await partition.run(takeOverScript, [worker, JSON.stringify(worker)]))
    if (isDone === '1') return Number(taken)
  }
}

/** By id. */
export async function listWorkers(partition: Partition, page: PageRequest = {}): Promise<Page<WorkerView>> {
  const fields = asTexts(await partition.run(listWorkersScript, [page.cursor ?? '', String(pageLimit(page))]))
  const next = fields[1] ?? ''
  return { items: viewsOf(partition, fields), next: next === '' ? null : next }
}

/** The first workers by id, as many as are asked for at the most. */
export async function allWorkers(partition: Partition, max: number): Promise<readonly WorkerView[]> {
  return viewsOf(partition, asTexts(await partition.run(listWorkersScript, ['', String(max)])))
}

interface FoundWorkers {
  readonly found: readonly WorkerView[]
  /** How much of the queue depth of each lies in its inbox here. */
  readonly inboxes: readonly number[]
  readonly now: number
}

/** What this partition knows of these workers; unknown ones are left out. Also the store's time. */
export async function findWorkers(partition: Partition, ids: readonly WorkerId[]): Promise<FoundWorkers> {
  const fields = asTexts(await partition.run(findWorkersScript, ids))
  const inboxes = records(WORKER_ROW, fields, FIELDS_BEFORE_WORKERS).map(({ inbox }) => Number(inbox))
  return { found: viewsOf(partition, fields), inboxes, now: Number(fields[0]) }
}

/** The latest first. */
export async function listDeparted(partition: Partition, page: PageRequest = {}): Promise<Page<DepartedWorker>> {
  const place = departedPlace(page.cursor)
  const from = place === null ? ['', ''] : [String(place.leftAt), place.worker]
  const fields = asTexts(await partition.run(listDepartedScript, [...from, String(pageLimit(page))]))
  const items = records(DEPARTED_ROW, fields, FIELDS_BEFORE_WORKERS).map((row) => {
    return { ...registrationOf(row), leftAt: Number(row.leftAt) }
  })
  const last = items.at(-1)
  return { items, next: fields[1] === '1' && last !== undefined ? departedCursor(last) : null }
}

const FIELDS_BEFORE_WORKERS = 2

/** What a worker registered, and when. */
function registrationOf(row: Readonly<Record<'id' | (typeof REGISTERED)[number], string>>) {
  return {
    worker: row.id as WorkerId,
    pools: JSON.parse(row.pools) as WorkerView['pools'],
    actions: JSON.parse(row.actions) as WorkerView['actions'],
    host: row.host,
    version: row.version,
    runtimes: JSON.parse(row.runtimes) as WorkerView['runtimes'],
    endpoint: row.endpoint === '' ? null : row.endpoint,
    ...(row.concurrency === '' ? {} : { concurrency: Number(row.concurrency) }),
    epoch: Number(row.epoch),
    registeredAt: Number(row.registeredAt),
  }
}

function viewsOf({ thresholds }: Partition, fields: readonly string[]): WorkerView[] {
  const now = Number(fields[0])
  return records(WORKER_ROW, fields, FIELDS_BEFORE_WORKERS).map((row) => viewOf(row, now, thresholds))
}

function viewOf(
  row: Readonly<Record<(typeof WORKER_ROW)[number], string>>,
  now: number,
  thresholds: HealthThresholds,
): WorkerView {
  const evidence = {
    lastBeatAt: Number(row.lastBeatAt),
    queueDepth: Number(row.queueDepth) + Number(row.inbox),
    consecutiveFailures: Number(row.consecutiveFailures),
    recentOutcomes: Number(row.recentOutcomes),
    recentFailures: Number(row.recentFailures),
    lastFailureAt: row.lastFailureAt === '' ? null : Number(row.lastFailureAt),
    inFlight: Number(row.inFlight),
    loopLagMs: Number(row.loopLagMs),
    maxQuietMs: Number(row.maxQuietMs),
    outlook: row.outlook === '' ? null : row.outlook.slice(1),
    lastProgressAt: Number(row.lastProgressAt),
    probeFailures: Number(row.probeFailures),
    failuresBy: (JSON.parse(row.failuresBy) as [string, number, number][]).map(([tenant, inRow, recent]) => {
      return { tenant: tenant === '' ? null : (tenant as TenantId), inRow, recent }
    }),
    servedWell: (JSON.parse(row.servedWell) as [TenantId, number][]).map(([tenant, at]) => ({ tenant, at })),
  }
  return {
    ...registrationOf(row),
    memoryBytes: Number(row.memoryBytes),
    draining: row.draining === '1',
    policyVersion: row.policyVersion === '' ? null : Number(row.policyVersion),
    ...evidence,
    health: assessHealth(evidence, now, thresholds),
  }
}
