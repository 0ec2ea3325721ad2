// The worker registry: epochs, what workers report about themselves, and what the store itself saw of them. A new epoch, and
// a goodbye, take away whatever leases the worker id still has.

import {
  type BeatReport,
  type BeatResult,
  type HealthThresholds,
  type Page,
  type PageRequest,
  type ProbeReport,
  StoreFailedError,
  type WorkerId,
  type WorkerRegistration,
  type WorkerView,
} from '@reprise/core'
import { assessHealth, checkBatch, pageLimit } from '@reprise/core/engine'
import { BEAT, ordered, PROBE, records, WORKER_ROW } from './layout.ts'
import { asTexts, type Partition } from './partition.ts'
import {
  beatScript,
  deregisterScript,
  findWorkersScript,
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
      ...more,
    ]),
  )
  const leases = isDone === '1' ? Number(taken) : await takeOver(partition, worker)
  return { epoch: Number(epoch), leases }
}

export async function beat(partition: Partition, report: BeatReport): Promise<BeatResult> {
  const { worker, draining, outlook } = report
  const args = ordered(BEAT, {
    worker,
    epoch: String(report.epoch),
    inFlight: String(report.inFlight),
    queueDepth: String(report.queueDepth),
    loopLagMs: String(report.loopLagMs),
    memoryBytes: String(report.memoryBytes),
    quietMsMax: String(report.quietMsMax),
    draining: draining ? '1' : '0',
    outlook: outlook === null ? '' : `=${outlook}`,
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
  const isDone = await partition.run(deregisterScript, [worker, JSON.stringify(worker), String(epoch)])
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

/** What this partition knows of these workers; unknown ones are left out. Also the store's time. */
export async function findWorkers(
  partition: Partition,
  ids: readonly WorkerId[],
): Promise<{ readonly found: readonly WorkerView[]; readonly now: number }> {
  const fields = asTexts(await partition.run(findWorkersScript, ids))
  return { found: viewsOf(partition, fields), now: Number(fields[0]) }
}

const FIELDS_BEFORE_WORKERS = 2

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
    queueDepth: Number(row.queueDepth),
    consecutiveFailures: Number(row.consecutiveFailures),
    recentOutcomes: Number(row.recentOutcomes),
    recentFailures: Number(row.recentFailures),
    lastFailureAt: row.lastFailureAt === '' ? null : Number(row.lastFailureAt),
    inFlight: Number(row.inFlight),
    loopLagMs: Number(row.loopLagMs),
    quietMsMax: Number(row.quietMsMax),
    outlook: row.outlook === '' ? null : row.outlook.slice(1),
    lastProgressAt: Number(row.lastProgressAt),
    probeFailures: Number(row.probeFailures),
  }
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
    memoryBytes: Number(row.memoryBytes),
    draining: row.draining === '1',
    ...evidence,
    health: assessHealth(evidence, now, thresholds),
  }
}
