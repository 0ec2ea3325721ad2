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
import type { DrawRequestId } from './claim.ts'
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

export async function register(
  partition: Partition,
  registration: WorkerRegistration,
  drawRequestId: DrawRequestId,
): Promise<{ readonly epoch: number }> {
  const { epoch } = await registerThere(partition, registration, drawRequestId, [])
  return { epoch }
}

/** In a store with several partitions `more` has the epoch and, for the home, how many leases were taken in the others. */
export async function registerThere(
  partition: Partition,
  registration: WorkerRegistration,
  drawRequestId: DrawRequestId,
  more: readonly string[],
): Promise<{ readonly epoch: number; readonly leases: number }> {
  partition.forget()
  const { worker, pools, actions, host, version, runtimes, endpoint, concurrency } = registration
  const [epoch, isDone, taken] = asTexts(
    await partition.run(registerScript, [
      drawRequestId(),
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
  const { worker, epoch, inFlight, queueDepth, loopLagMs, memoryBytes, quietMsMax, draining, outlook } = report
  const numbers = [epoch, inFlight, queueDepth, loopLagMs, memoryBytes, quietMsMax].map(String)
  const words = outlook === null ? '' : `=${outlook}`
  const outcome = await partition.run(beatScript, [worker, ...numbers, draining ? '1' : '0', words])
  if (outcome === 'current' || outcome === 'replaced' || outcome === 'unknown') return { outcome }
  throw new StoreFailedError('The store answered a heartbeat with something unexpected.')
}

export async function probed(
  partition: Partition,
  reports: readonly ProbeReport[],
  drawRequestId: DrawRequestId,
): Promise<void> {
  checkBatch(reports.length)
  if (reports.length === 0) return
  const args = reports.flatMap(({ worker, epoch, ok }) => [worker, String(epoch), ok ? '1' : ''])
  await partition.run(probedScript, [drawRequestId(), ...args])
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
export async function listWorkers(
  partition: Partition,
  page: PageRequest = {},
  thresholds: HealthThresholds,
): Promise<Page<WorkerView>> {
  const fields = asTexts(await partition.run(listWorkersScript, [page.cursor ?? '', String(pageLimit(page))]))
  const next = fields[1] ?? ''
  return { items: viewsOf(fields, thresholds), next: next === '' ? null : next }
}

/** The first workers by id, as many as are asked for at the most. */
export async function allWorkers(
  partition: Partition,
  thresholds: HealthThresholds,
  max: number,
): Promise<readonly WorkerView[]> {
  return viewsOf(asTexts(await partition.run(listWorkersScript, ['', String(max)])), thresholds)
}

/** What this partition knows of these workers; unknown ones are left out. Also the store's time. */
export async function findWorkers(
  partition: Partition,
  ids: readonly WorkerId[],
  thresholds: HealthThresholds,
): Promise<{ readonly found: readonly WorkerView[]; readonly now: number }> {
  const fields = asTexts(await partition.run(findWorkersScript, ids))
  return { found: viewsOf(fields, thresholds), now: Number(fields[0]) }
}

const FIELDS_BEFORE_WORKERS = 2
const FIELDS_PER_WORKER = 26

function viewsOf(fields: readonly string[], thresholds: HealthThresholds): WorkerView[] {
  const now = Number(fields[0])
  const views: WorkerView[] = []
  for (let at = FIELDS_BEFORE_WORKERS; at < fields.length; at += FIELDS_PER_WORKER) {
    views.push(viewOf(fields.slice(at, at + FIELDS_PER_WORKER), now, thresholds))
  }
  return views
}

function viewOf(fields: readonly string[], now: number, thresholds: HealthThresholds): WorkerView {
  const [worker = '', epoch, pools = '', actions = '', host = '', version = '', runtimes = '', endpoint = '', ...rest] =
    fields
  const [
    concurrency,
    registeredAt,
    lastBeatAt,
    queueDepth,
    consecutiveFailures,
    recentOutcomes,
    recentFailures,
    ...others
  ] = rest
  const [lastFailureAt, inFlight, loopLagMs, quietMsMax, lastProgressAt, probeFailures, memoryBytes, draining] = others
  const outlook = fields.at(-1) ?? ''
  const evidence = {
    lastBeatAt: Number(lastBeatAt),
    queueDepth: Number(queueDepth),
    consecutiveFailures: Number(consecutiveFailures),
    recentOutcomes: Number(recentOutcomes),
    recentFailures: Number(recentFailures),
    lastFailureAt: lastFailureAt === '' ? null : Number(lastFailureAt),
    inFlight: Number(inFlight),
    loopLagMs: Number(loopLagMs),
    quietMsMax: Number(quietMsMax),
    outlook: outlook === '' ? null : outlook.slice(1),
    lastProgressAt: Number(lastProgressAt),
    probeFailures: Number(probeFailures),
  }
  return {
    worker: worker as WorkerId,
    pools: JSON.parse(pools) as WorkerView['pools'],
    actions: JSON.parse(actions) as WorkerView['actions'],
    host,
    version,
    runtimes: JSON.parse(runtimes) as WorkerView['runtimes'],
    endpoint: endpoint === '' ? null : endpoint,
    ...(concurrency === '' ? {} : { concurrency: Number(concurrency) }),
    epoch: Number(epoch),
    registeredAt: Number(registeredAt),
    memoryBytes: Number(memoryBytes),
    draining: draining === '1',
    ...evidence,
    health: assessHealth(evidence, now, thresholds),
  }
}
