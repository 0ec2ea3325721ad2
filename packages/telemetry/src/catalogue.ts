// Every metric that Reprise shows, in one table: name, type, labels and meaning. What sets them is elsewhere; a test keeps
// docs/observability.md equal to this. Labels are few and have few values: a pool, a reason, a status. Never a task id.

import {
  DEAD_LETTERS_EXPORTED_TOTAL,
  HEARTBEAT_LAG_SECONDS,
  JOB_CHUNKS_TOTAL,
  JOBS_MOVING,
  LEDGER_DIFFERENCES_TOTAL,
  LEDGER_PASS_SECONDS,
  QUEUE_DEPTH,
  QUEUE_MESSAGES_TOTAL,
  QUEUE_PUBLISHED_TOTAL,
  STALE_WORKER_RETRY_TOTAL,
} from '@reprise/core'

type Type = 'counter' | 'gauge' | 'histogram'

export interface MetricDefinition<Of extends Type = Type, Label extends string = string> {
  readonly name: string
  readonly type: Of
  readonly labels: readonly Label[]
  readonly help: string
  /** Upper bounds of a histogram's buckets, in its unit; none for others. */
  readonly buckets: readonly number[]
}

const defining =
  <Of extends Type>(type: Of) =>
  <const Label extends string>(
    name: string,
    labels: readonly Label[],
    help: string,
    buckets: readonly number[] = [],
  ): MetricDefinition<Of, Label> => ({ name, type, labels, help, buckets })

const counter = defining('counter')
const gauge = defining('gauge')
const histogram = defining('histogram')

const CALL_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10]
const TASK_SECONDS = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600]

export const CATALOGUE = {
  engineCall: histogram(
    'reprise_engine_call_duration_seconds',
    ['verb', 'outcome'],
    'Calls of the engine by this process. The outcome is ok, refused (the call was wrong) or error (the store was).',
    CALL_SECONDS,
  ),
  submitted: counter(
    'reprise_tasks_submitted_total',
    ['pool', 'outcome'],
    'Tasks that this process submitted: accepted, or duplicate.',
  ),
  claims: counter(
    'reprise_claims_total',
    ['held_back'],
    'Claims made through this process, by whether health held the worker back: no, degraded or unhealthy.',
  ),
  queueWait: histogram(
    'reprise_queue_wait_seconds',
    ['pool'],
    'From acceptance to the start of the first attempt, a delay that was asked for included.',
    TASK_SECONDS,
  ),
  executions: counter(
    'reprise_executions_total',
    ['pool', 'status'],
    'Attempts that this process settled: succeeded, failed, lost or released.',
  ),
  executionDuration: histogram(
    'reprise_execution_duration_seconds',
    ['pool', 'status'],
    'How long attempts took that were claimed and settled by this process.',
    TASK_SECONDS,
  ),
  parked: counter(
    'reprise_tasks_parked_total',
    ['pool', 'reason'],
    'Failed attempts that a breaker sent back to the queue uncharged.',
  ),
  tenantRefusals: counter(
    'reprise_tenant_refusals_total',
    ['limit'],
    'Tasks that this server refused because their tenant is at a limit: rate, backlog or bytes.',
  ),
  refused: counter(
    'reprise_settlements_superseded_total',
    ['because'],
    'Settlements that the store refused, because the lease was no longer held.',
  ),
  retryScheduled: counter(
    'task_retry_scheduled_total',
    ['pool', 'reason'],
    'Retries scheduled (task.retry.scheduled_total): by a decision, or by an operator (reason manual).',
  ),
  retrySuccess: counter(
    'task_retry_success_total',
    ['pool', 'reason'],
    'Retries that succeeded (task.retry.success_total), by the reason of the retry.',
  ),
  retryFailure: counter(
    'task_retry_failure_total',
    ['pool', 'reason'],
    'Retries that failed or were lost (task.retry.failure_total), by the reason of the new failure.',
  ),
  retryDlq: counter(
    'task_retry_dlq_total',
    ['pool', 'reason'],
    'Tasks that became dead letters (task.retry.dlq_total), by why.',
  ),
  retryEscalated: counter(
    'task_retry_escalated_total',
    ['pool', 'reason', 'severity'],
    'Dead letters that a policy hands to a person (task.retry.escalated_total).',
  ),
  httpRequest: histogram(
    'reprise_http_request_duration_seconds',
    ['method', 'route', 'status'],
    'Requests to the HTTP API, by the pattern of their route.',
    CALL_SECONDS,
  ),
  loopHeld: counter(
    'reprise_loop_held_total',
    ['route'],
    'Pieces of work of a request that held the event loop for more than 20 ms, by the route.',
  ),
  maxLoopDelay: gauge(
    'reprise_loop_delay_max_seconds',
    [],
    'The longest that anything kept the event loop from its next turn since the scrape before.',
  ),
  staleWorkerRetry: counter(
    STALE_WORKER_RETRY_TOTAL,
    ['topic', 'worker'],
    'Stale picks of a dispatcher that were followed by another pick. The topic is the action.',
  ),
  dispatchLag: gauge(
    HEARTBEAT_LAG_SECONDS,
    ['statistic'],
    'How long ago workers were heard of when this dispatcher last looked: p50, p90, p99 and max.',
  ),
  ledgerDifferences: counter(
    LEDGER_DIFFERENCES_TOTAL,
    ['kind'],
    'Differences that the ledger of this orchestrator found: a task that is gone, a count that is off.',
  ),
  ledgerPass: gauge(LEDGER_PASS_SECONDS, [], 'How long the last whole look of the ledger through the store took.'),
  deadLettersExported: counter(
    DEAD_LETTERS_EXPORTED_TOTAL,
    ['pool'],
    'Old dead letters that this orchestrator wrote to a file and then discarded, by the retention rule for them.',
  ),
  queueMessages: counter(
    QUEUE_MESSAGES_TOTAL,
    ['queue', 'outcome'],
    'Deliveries of the outside queue that this process took in, by what became of them: launched, duplicate, dropped, kept, launch_failed, no_slot, not_yet, no_pool, error or put_back.',
  ),
  queuePublished: counter(
    QUEUE_PUBLISHED_TOTAL,
    ['queue', 'outcome'],
    'Retries that this process published to the outside queue: sent, or refused by it.',
  ),
  queueMessagesIn: gauge(
    QUEUE_DEPTH,
    ['queue', 'state'],
    'Messages of the outside queue as it counts them: visible, in_flight, delayed, and dead_letters.',
  ),
  jobChunks: counter(
    JOB_CHUNKS_TOTAL,
    ['outcome'],
    'Chunks of durable jobs that this service saw end: succeeded, or failed in any way.',
  ),
  jobsMoving: gauge(JOBS_MOVING, [], 'Durable jobs that this service moves now.'),
  storeUp: gauge(
    'reprise_store_up',
    [],
    '1 if the store answered in time at this scrape. If it is 0, the figures of the store are left out.',
  ),
  tasks: gauge('reprise_tasks', ['status'], 'Tasks in the store now.'),
  poolTasks: gauge(
    'reprise_pool_tasks',
    ['pool', 'status'],
    'Tasks of a pool that are queued, waiting, running or dead now.',
  ),
  workers: gauge('reprise_workers', ['health'], 'Workers in the registry now: healthy, degraded or unhealthy.'),
  workersDraining: gauge('reprise_workers_draining', [], 'Workers that are about to stop.'),
  heartbeatLag: gauge(
    'reprise_worker_heartbeat_lag_seconds',
    ['statistic'],
    'How long ago the workers of the registry were heard of: p50, p90, p99 and max.',
  ),
  breakers: gauge(
    'reprise_breakers',
    ['status', 'level'],
    'Circuit breakers of single tenants and of all: open, half_open, ramping, or closed with failures in their window.',
  ),
  retryRate: gauge(
    'reprise_monitoring_retry_rate',
    [],
    'Share of the attempts that ended in the window and led to a retry.',
  ),
  retrySuccessRate: gauge(
    'reprise_monitoring_retry_success_rate',
    [],
    'Share of the retries of the window whose end is known that succeeded.',
  ),
  retryReasons: gauge('reprise_monitoring_retries', ['reason'], 'Retries of the window by their reason.'),
  retryReasonSuccess: gauge(
    'reprise_monitoring_retry_reason_success_rate',
    ['reason'],
    'Share of the retries of the window with this reason that succeeded, of those that have ended.',
  ),
  scalingSlots: gauge(
    'reprise_scaling_slots',
    ['pool'],
    'How many executions at once the pool would need to start everything within 10 s.',
  ),
  scalingWorkers: gauge('reprise_scaling_workers', ['pool'], 'The same in workers.'),
  workOrdersUnpushed: gauge(
    'reprise_work_orders_unpushed',
    ['system'],
    'Work orders that an outside system could not be made to have.',
  ),
  unhealthyShare: gauge('reprise_monitoring_unhealthy_share', [], 'Share of the workers that are unhealthy.'),
  queueDepth: gauge('reprise_monitoring_queue_depth_average', [], 'Tasks that wait inside a worker, on average.'),
  healthRouting: gauge(
    'reprise_monitoring_health_routing_share',
    [],
    'Share of the attempts of the window that started where workers are chosen by health.',
  ),
  level: gauge(
    'reprise_monitoring_level',
    ['figure'],
    '0 ok, 1 warning, 2 critical: of retry_rate, of unhealthy_share, and of both together (overall).',
  ),
} as const
