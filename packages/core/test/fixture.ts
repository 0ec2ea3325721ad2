// Complete domain objects for tests; each test overrides only what it is about.

import {
  type ActionName,
  actionName,
  DEFAULT_POOL,
  DEFAULT_PRIORITY,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Failure,
  type Fingerprint,
  JSON_NULL,
  leaseToken,
  retryToken,
  type Snapshot,
  type Task,
  type TaskState,
  taskId,
  type WorkerView,
  workerId,
} from '@reprise/core'
import { NO_OUTCOMES } from '@reprise/core/engine'

export const NOW = Date.UTC(2030, 0, 1)
export const RENDER: ActionName = actionName('render')

const queued: TaskState = { status: 'queued', since: NOW, expiresAt: null }
export const running: TaskState & { readonly status: 'running' } = {
  status: 'running',
  attempt: 2,
  worker: workerId('w1'),
  token: leaseToken('t1'),
  startedAt: NOW - 90_000,
  leaseUntil: NOW + 15_000,
  timeoutAt: NOW + 210_000,
  progress: null,
  stage: 'run',
  handle: null,
}

export function failureWith(over: Partial<Failure> = {}): Failure {
  return {
    code: 'ECONNRESET',
    name: 'Error',
    message: 'read ECONNRESET',
    stack: null,
    reason: 'connection',
    retriable: true,
    rule: 'code:ECONNRESET',
    retryAfterMs: null,
    fingerprint: '0011223344556677' as Fingerprint,
    details: null,
    ...over,
  }
}

export function snapshotWith(over: Partial<Snapshot> = {}): Snapshot {
  return {
    id: taskId('task-1'),
    action: RENDER,
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: JSON_NULL,
    labels: {},
    priority: DEFAULT_PRIORITY,
    settings: DEFAULT_SETTINGS,
    retryToken: retryToken('retry-1'),
    dedupeKey: null,
    deadlineAt: null,
    ...over,
  }
}

export function taskWith(over: Partial<Task> = {}): Task {
  return {
    ...snapshotWith(),
    acceptedAt: NOW,
    generation: 1,
    attempt: 0,
    failures: 0,
    losses: 0,
    parks: 0,
    deferrals: 0,
    lastWorker: null,
    state: queued,
    ...over,
  }
}

export function workerWith(over: Partial<WorkerView> = {}): WorkerView {
  return {
    worker: workerId('w1'),
    pools: [DEFAULT_POOL],
    actions: null,
    host: 'host-1',
    version: '1.0.0',
    runtimes: [],
    endpoint: null,
    epoch: 1,
    registeredAt: NOW,
    lastBeatAt: NOW,
    inFlight: 0,
    queueDepth: 0,
    loopLagMs: 0,
    memoryBytes: 0,
    draining: false,
    policyVersion: null,
    ...NO_OUTCOMES,
    lastProgressAt: NOW,
    maxQuietMs: 0,
    outlook: null,
    probeFailures: 0,
    health: { status: 'healthy', reasons: [] },
    ...over,
  }
}
