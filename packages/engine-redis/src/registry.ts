// The worker registry: epochs, what workers report about themselves, and what the store itself saw of them. A new epoch, and
// a goodbye, take away whatever leases the worker id still has.

import {
  assessHealth,
  type BeatReport,
  type BeatResult,
  type HealthThresholds,
  type Page,
  type PageRequest,
  pageLimit,
  StoreFailedError,
  type WorkerId,
  type WorkerRegistration,
  type WorkerView,
} from '@reprise/core'
import type { DrawRequestId } from './claim.ts'
import { asTexts, type Partition } from './partition.ts'
import { beatScript, deregisterScript, listWorkersScript, registerScript, takeOverScript } from './scripts.generated.ts'

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
  const { worker, pools, actions, host, version, runtimes } = registration
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
      ...more,
    ]),
  )
  const leases = isDone === '1' ? Number(taken) : await takeOver(partition, worker)
  return { epoch: Number(epoch), leases }
}

export async function beat(partition: Partition, report: BeatReport): Promise<BeatResult> {
  const { worker, epoch, inFlight, queueDepth, loopLagMs, memoryBytes, draining } = report
  const numbers = [epoch, inFlight, queueDepth, loopLagMs, memoryBytes].map(String)
  const outcome = await partition.run(beatScript, [worker, ...numbers, draining ? '1' : '0'])
  if (outcome === 'current' || outcome === 'replaced' || outcome === 'unknown') return { outcome }
  throw new StoreFailedError('The store answered a heartbeat with something unexpected.')
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

const FIELDS_BEFORE_WORKERS = 2
const FIELDS_PER_WORKER = 18

function viewsOf(fields: readonly string[], thresholds: HealthThresholds): WorkerView[] {
  const now = Number(fields[0])
  const views: WorkerView[] = []
  for (let at = FIELDS_BEFORE_WORKERS; at < fields.length; at += FIELDS_PER_WORKER) {
    views.push(viewOf(fields.slice(at, at + FIELDS_PER_WORKER), now, thresholds))
  }
  return views
}

function viewOf(fields: readonly string[], now: number, thresholds: HealthThresholds): WorkerView {
  const [worker = '', epoch, pools = '', actions = '', host = '', version = '', runtimes = '', ...rest] = fields
  const [registeredAt, lastBeatAt, inFlight, queueDepth, loopLagMs, memoryBytes, draining, ...outcomes] = rest
  const [consecutiveFailures, recentOutcomes, recentFailures, lastFailureAt = ''] = outcomes
  const evidence = {
    lastBeatAt: Number(lastBeatAt),
    queueDepth: Number(queueDepth),
    consecutiveFailures: Number(consecutiveFailures),
    recentOutcomes: Number(recentOutcomes),
    recentFailures: Number(recentFailures),
    lastFailureAt: lastFailureAt === '' ? null : Number(lastFailureAt),
  }
  return {
    worker: worker as WorkerId,
    pools: JSON.parse(pools) as WorkerView['pools'],
    actions: JSON.parse(actions) as WorkerView['actions'],
    host,
    version,
    runtimes: JSON.parse(runtimes) as WorkerView['runtimes'],
    epoch: Number(epoch),
    registeredAt: Number(registeredAt),
    inFlight: Number(inFlight),
    loopLagMs: Number(loopLagMs),
    memoryBytes: Number(memoryBytes),
    draining: draining === '1',
    ...evidence,
    health: assessHealth(evidence, now, thresholds),
  }
}
