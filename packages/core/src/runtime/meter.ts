// Where services count what they do: a port as small as their needs. What collects and shows the figures is not their
// business (@reprise/telemetry has a meter that does); by default nobody does.

export type MeterLabels = Readonly<Record<string, string>>

export interface Meter {
  count(name: string, labels: MeterLabels, by?: number): void
  observe(name: string, labels: MeterLabels, value: number): void
}

export const silentMeter: Meter = { count: () => undefined, observe: () => undefined }

/** A stale pick was followed by another pick (D4). Labels: topic, which is the action, and worker, the stale one. */
export const STALE_WORKER_RETRY_TOTAL = 'scheduler_stale_worker_retry_total'
/** How long ago workers were heard of when a dispatcher looked, in seconds. Label: statistic (D4). */
export const HEARTBEAT_LAG_SECONDS = 'scheduler_heartbeat_lag_seconds'
/** Differences that the ledger found. Label: kind. */
export const LEDGER_DIFFERENCES_TOTAL = 'reprise_ledger_differences_total'
/** How long the last whole look through the store took, in seconds. */
export const LEDGER_PASS_SECONDS = 'reprise_ledger_pass_seconds'
/** Dead letters that a retention rule wrote to a file and discarded. Label: pool (B14). */
export const DEAD_LETTERS_EXPORTED_TOTAL = 'reprise_dead_letters_exported_total'
/** Messages of an outside queue, by what became of them. Labels: queue, outcome (A14). */
export const QUEUE_MESSAGES_TOTAL = 'reprise_queue_messages_total'
/** Messages in an outside queue, as it says itself. Labels: queue, state. */
export const QUEUE_DEPTH = 'reprise_queue_depth'
/** Retries that were published to an outside queue. Labels: queue, outcome. */
export const QUEUE_PUBLISHED_TOTAL = 'reprise_queue_published_total'
/** Chunks of durable jobs that ended. Label: outcome, succeeded or failed (E6). */
export const JOB_CHUNKS_TOTAL = 'reprise_job_chunks_total'
/** Durable jobs that this service moves (E6). */
export const JOBS_MOVING = 'reprise_jobs_moving'
