// Every metric that Reprise shows, in one table: name, type, labels and meaning. What sets them is elsewhere; a test keeps
// docs/observability.md equal to this. Labels are few and have few values: a pool, a reason, a status. Never a task id.

import { HEARTBEAT_LAG_MS, STALE_WORKER_RETRY_TOTAL } from '@reprise/core'

export interface MetricDefinition {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly labels: readonly string[]
  readonly help: string
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[]
}

const CALL_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10]
const TASK_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600]

export const CATALOGUE = {
  engineCall: {
    name: 'reprise_engine_call_duration_seconds',
    type: 'histogram',
    labels: ['verb', 'outcome'],
    help: 'Calls of the engine by this process. The outcome is ok, refused (the call was wrong) or error (the store was).',
    buckets: CALL_SECONDS,
  },
  submitted: {
    name: 'reprise_tasks_submitted_total',
    type: 'counter',
    labels: ['pool', 'outcome'],
    help: 'Tasks that this process submitted: accepted, or duplicate.',
  },
  claims: {
    name: 'reprise_claims_total',
    type: 'counter',
    labels: ['held_back'],
    help: 'Claims made through this process, by whether health held the worker back: no, degraded or unhealthy.',
  },
  queueWait: {
    name: 'reprise_queue_wait_seconds',
    type: 'histogram',
    labels: ['pool'],
    help: 'From acceptance to the start of the first attempt, a delay that was asked for included.',
    buckets: TASK_SECONDS,
  },
  executions: {
    name: 'reprise_executions_total',
    type: 'counter',
    labels: ['pool', 'status'],
    help: 'Attempts that this process settled: succeeded, failed, lost or released.',
  },
  executionDuration: {
    name: 'reprise_execution_duration_seconds',
    type: 'histogram',
    labels: ['pool', 'status'],
    help: 'How long attempts took that were claimed and settled by this process.',
    buckets: TASK_SECONDS,
  },
  parked: {
    name: 'reprise_tasks_parked_total',
    type: 'counter',
    labels: ['pool', 'reason'],
    help: 'Failed attempts that a breaker sent back to the queue uncharged.',
  },
  refused: {
    name: 'reprise_settlements_superseded_total',
    type: 'counter',
    labels: ['because'],
    help: 'Settlements that the store refused, because the lease was no longer held.',
  },
  retryScheduled: {
    name: 'task_retry_scheduled_total',
    type: 'counter',
    labels: ['pool', 'reason'],
    help: 'Retries scheduled (task.retry.scheduled_total): by a decision, or by an operator (reason manual).',
  },
  retrySuccess: {
    name: 'task_retry_success_total',
    type: 'counter',
    labels: ['pool', 'reason'],
    help: 'Retries that succeeded (task.retry.success_total), by the reason of the retry.',
  },
  retryFailure: {
    name: 'task_retry_failure_total',
    type: 'counter',
    labels: ['pool', 'reason'],
    help: 'Retries that failed or were lost (task.retry.failure_total), by the reason of the new failure.',
  },
  retryDlq: {
    name: 'task_retry_dlq_total',
    type: 'counter',
    labels: ['pool', 'reason'],
    help: 'Tasks that became dead letters (task.retry.dlq_total), by why.',
  },
  retryEscalated: {
    name: 'task_retry_escalated_total',
    type: 'counter',
    labels: ['pool', 'reason', 'severity'],
    help: 'Dead letters that a policy hands to a person (task.retry.escalated_total).',
  },
  httpRequest: {
    name: 'reprise_http_request_duration_seconds',
    type: 'histogram',
    labels: ['method', 'route', 'status'],
    help: 'Requests to the HTTP API, by the pattern of their route.',
    buckets: CALL_SECONDS,
  },
  staleWorkerRetry: {
    name: STALE_WORKER_RETRY_TOTAL,
    type: 'counter',
    labels: ['topic', 'worker'],
    help: 'Stale picks of a dispatcher that were followed by another pick. The topic is the action.',
  },
  heartbeatLagMs: {
    name: HEARTBEAT_LAG_MS,
    type: 'gauge',
    labels: ['quantile'],
    help: 'How long ago workers were heard of when this dispatcher last looked, in ms.',
  },
  storeUp: {
    name: 'reprise_store_up',
    type: 'gauge',
    labels: [],
    help: '1 if the store answered in time at this scrape. If it is 0, the figures of the store are left out.',
  },
  tasks: {
    name: 'reprise_tasks',
    type: 'gauge',
    labels: ['status'],
    help: 'Tasks in the store now.',
  },
  poolTasks: {
    name: 'reprise_pool_tasks',
    type: 'gauge',
    labels: ['pool', 'status'],
    help: 'Tasks of a pool that are queued, waiting, running or dead now.',
  },
  workers: {
    name: 'reprise_workers',
    type: 'gauge',
    labels: ['health'],
    help: 'Workers in the registry now: healthy, degraded or unhealthy.',
  },
  workersDraining: {
    name: 'reprise_workers_draining',
    type: 'gauge',
    labels: [],
    help: 'Workers that are about to stop.',
  },
  heartbeatLag: {
    name: 'reprise_worker_heartbeat_lag_seconds',
    type: 'gauge',
    labels: ['quantile'],
    help: 'How long ago the workers of the registry were heard of.',
  },
  breakers: {
    name: 'reprise_breakers',
    type: 'gauge',
    labels: ['status'],
    help: 'Circuit breakers: open, half_open, ramping, or closed with failures in their window.',
  },
  retryRate: {
    name: 'reprise_monitoring_retry_rate',
    type: 'gauge',
    labels: [],
    help: 'Share of the attempts that ended in the window and led to a retry.',
  },
  retrySuccessRate: {
    name: 'reprise_monitoring_retry_success_rate',
    type: 'gauge',
    labels: [],
    help: 'Share of the retries of the window whose end is known that succeeded.',
  },
  retryReasons: {
    name: 'reprise_monitoring_retries',
    type: 'gauge',
    labels: ['reason'],
    help: 'Retries of the window by their reason.',
  },
  unhealthyShare: {
    name: 'reprise_monitoring_unhealthy_share',
    type: 'gauge',
    labels: [],
    help: 'Share of the workers that are unhealthy.',
  },
  queueDepth: {
    name: 'reprise_monitoring_queue_depth_average',
    type: 'gauge',
    labels: [],
    help: 'Tasks that wait inside a worker, on average.',
  },
  healthRouting: {
    name: 'reprise_monitoring_health_routing_share',
    type: 'gauge',
    labels: [],
    help: 'Share of the attempts of the window that started where workers are chosen by health.',
  },
  level: {
    name: 'reprise_monitoring_level',
    type: 'gauge',
    labels: ['figure'],
    help: '0 ok, 1 warning, 2 critical: of retry_rate, of unhealthy_share, and of both together (overall).',
  },
} as const satisfies Record<string, MetricDefinition>
