// Which worker gets a task of a directed pool (C6): of those that can take it the healthiest, then the one with the least waiting
// inside, then the least loaded; the preferred one and the one its affinity key falls on come first. Pure: it looks at a snapshot of the registry, which may
// be out of date; the store checks the pick once more when the task is assigned.

import type { WorkerId } from '../model/ids.ts'
import type { Snapshot } from '../model/task.ts'
import type { WorkerVerdict, WorkerView } from '../port/queries.ts'
import { isAlive } from './liveness.ts'

/** Labels of a task that say where it wants to run. */
export const PREFERRED_WORKER_LABEL = 'preferred_worker_id'
export const AFFINITY_LABEL = 'affinity_key'
export const RUNTIME_LABEL = 'runtime'

export interface SelectionRequest {
  readonly task: Pick<Snapshot, 'pool' | 'action' | 'labels' | 'settings'>
  readonly workers: readonly WorkerView[]
  /** The store's time. */
  readonly now: number
  /** From when on a silent worker counts as stale. */
  readonly heartbeatStaleMs: number
  /** Found stale since the snapshot was taken. */
  readonly exclude?: ReadonlySet<WorkerId>
  /** The health of workers does not matter, as long as they are alive. */
  readonly regardless?: boolean
  /** What was given to workers since their last heartbeats. */
  readonly givenSince?: ReadonlyMap<WorkerId, number>
}

interface LeftOut {
  readonly worker: WorkerId
  readonly verdict: Exclude<WorkerVerdict, 'eligible' | 'degraded'> | 'stale' | 'other_runtime' | 'excluded'
  /** For people. */
  readonly reason: string
}

export interface Selection {
  /** Null if no worker can take it. */
  readonly worker: WorkerView | null
  /** What made it the pick; null if there is none. */
  readonly by: 'preferred' | 'affinity' | 'load' | null
  readonly leftOut: readonly LeftOut[]
}

export function selectWorker(request: SelectionRequest): Selection {
  const eligible: WorkerView[] = []
  const leftOut: LeftOut[] = []
  for (const worker of request.workers) {
    const out = verdictOn(worker, request)
    if (out === null) eligible.push(worker)
    else leftOut.push({ worker: worker.worker, ...out })
  }
  return { ...pick(eligible, request), leftOut }
}

function pick(eligible: readonly WorkerView[], request: SelectionRequest): Pick<Selection, 'worker' | 'by'> {
  const { labels } = request.task
  const preferred = eligible.find(({ worker }) => worker === labels[PREFERRED_WORKER_LABEL])
  if (preferred !== undefined) return { worker: preferred, by: 'preferred' }
  // Degraded workers are used last (C5): only if no healthy one is left.
  const healthy = eligible.filter(({ health }) => health.status === 'healthy')
  const best = healthy.length > 0 && request.regardless !== true ? healthy : eligible
  const key = labels[AFFINITY_LABEL]
  if (key !== undefined) {
    const worker = greatest(best, (one) => rendezvous(key, one.worker))
    return { worker, by: worker === null ? null : 'affinity' }
  }
  // The least that waits inside, then the least that it has as a share of what it can run at once.
  const shallowest = Math.min(...best.map((one) => depthOf(one, request)))
  const worker = greatest(best, (one) => (depthOf(one, request) > shallowest ? -Infinity : -loadOf(one, request)))
  return { worker, by: worker === null ? null : 'load' }
}

/** What was given to it lies in its inbox, which the snapshot shows, or was collected, which the next heartbeat shows. */
const hasOf = ({ worker, queueDepth, inFlight }: WorkerView, { givenSince }: SelectionRequest): number =>
  inFlight + Math.max(queueDepth, givenSince?.get(worker) ?? 0)

/** What waits inside it: as it says, or what it has beyond what it can run, if that is more. */
const depthOf = (worker: WorkerView, request: SelectionRequest): number =>
  Math.max(worker.queueDepth, hasOf(worker, request) - (worker.concurrency ?? UNKNOWN_CONCURRENCY))

const loadOf = (worker: WorkerView, request: SelectionRequest): number =>
  hasOf(worker, request) / (worker.concurrency ?? UNKNOWN_CONCURRENCY)

/** A worker that does not say how much it can run at once is taken for one like most. */
const UNKNOWN_CONCURRENCY = 10

function verdictOn(worker: WorkerView, request: SelectionRequest): Omit<LeftOut, 'worker'> | null {
  const { task, now, heartbeatStaleMs, exclude, regardless } = request
  if (!worker.pools.includes(task.pool)) return { verdict: 'other_pool', reason: `serves no pool '${task.pool}'` }
  if (worker.actions !== null && !worker.actions.includes(task.action)) {
    return { verdict: 'other_actions', reason: `can't run action '${task.action}'` }
  }
  const runtime = task.labels[RUNTIME_LABEL] ?? task.settings.runtime
  if (runtime !== undefined && !worker.runtimes.some((one) => supports(one, runtime))) {
    return { verdict: 'other_runtime', reason: `has no runtime '${runtime}'` }
  }
  if (exclude?.has(worker.worker) === true) return { verdict: 'excluded', reason: 'was found stale a moment ago' }
  if (worker.draining) return { verdict: 'draining', reason: 'is about to stop' }
  if (!isAlive(worker, now, heartbeatStaleMs)) {
    return { verdict: 'stale', reason: `no heartbeat for ${Math.round((now - worker.lastBeatAt) / 1_000)} s` }
  }
  if (regardless === true) return null
  if (worker.health.status === 'unhealthy') return { verdict: 'unhealthy', reason: worker.health.reasons.join('; ') }
  return null
}

/** 'node' is any version of it, 'node 26' any release of that one. */
function supports(offered: string, asked: string): boolean {
  return offered === asked || offered.startsWith(`${asked} `) || offered.startsWith(`${asked}.`)
}

/** The one with the highest score, the first of equals; null of none. */
function greatest(workers: readonly WorkerView[], score: (worker: WorkerView) => number): WorkerView | null {
  let found: WorkerView | null = null
  let highest = Number.NEGATIVE_INFINITY
  for (const worker of workers) {
    const own = score(worker)
    if (own <= highest) continue
    found = worker
    highest = own
  }
  return found
}

/**
 * Rendezvous hashing: each worker draws a number with the key, the highest wins. When a worker comes or goes, only the keys
 * it wins or had move.
 */
function rendezvous(key: string, worker: WorkerId): number {
  // FNV-1a over both, then a finish that spreads similar names.
  let hash = 0x811c9dc5
  const text = `${key}\u0000${worker}`
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** How long ago workers were heard of, in ms: what the liveness TTL and the number of re-picks are tuned by (D4). */
export interface HeartbeatLag {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
  readonly count: number
}

export function heartbeatLag(workers: readonly Pick<WorkerView, 'lastBeatAt'>[], now: number): HeartbeatLag {
  const lags = workers.map(({ lastBeatAt }) => Math.max(now - lastBeatAt, 0)).toSorted((a, b) => a - b)
  // The nearest rank: always a lag that some worker has.
  const at = (share: number): number => lags[Math.max(Math.ceil(share * lags.length) - 1, 0)] ?? 0
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: lags.at(-1) ?? 0, count: lags.length }
}
