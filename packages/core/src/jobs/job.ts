// A durable job: one document, whose chunks are tasks of the store (E6). A job service of any orchestrator hands chunks in, a few
// thousand at a time at the most, and counts those that have ended; the document says how far it has come. Its statuses:
//
//   running     chunks are handed in and counted. Left by the service: to `stopping` when more chunks failed than the job
//               tolerates and it is to stop, to `finishing` when all have ended and there is a final step, else to an end
//   stopping    nothing is handed in; the chunks under way come to their end. Then `stopped`. A resume or a retry takes it back
//   stopped     nothing happens until an operator resumes, retries or cancels
//   finishing   all chunks have ended, and the final step runs as a task. Its end is the end of the job
//   cancelling  the chunks under way are cancelled. Then `cancelled`
//   succeeded, failed, cancelled
//               the end. A job that failed is taken back by a retry (the failed chunks run again) or by a resume (the final step
//               runs again), and one that succeeded with failures that it tolerates by a retry. Others stay as they are
//
// Exactly once: a chunk's task id is made of the job's id and the chunk's place, so that handing it in again is a duplicate.
// `fed` moves only after the store has the tasks. A chunk moves from `open` to a count in one write of the document. A process that
// dies in between leaves a document that is a little behind, never ahead.

import type { ActionName, PoolName, RetryToken, TaskId, TenantId } from '../model/ids.ts'
import type { JsonText } from '../model/json.ts'
import type { Priority, TaskSettings, TaskSpec } from '../model/task.ts'
import type { CollectionDefinition } from '../port/collection.ts'

export const JOB_STATUSES = [
  'running',
  'stopping',
  'stopped',
  'finishing',
  'cancelling',
  'succeeded',
  'failed',
  'cancelled',
] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** A service has something to do. */
const MOVING: ReadonlySet<JobStatus> = new Set<JobStatus>(['running', 'stopping', 'finishing', 'cancelling'])
export const ENDED_JOB: ReadonlySet<JobStatus> = new Set<JobStatus>(['succeeded', 'failed', 'cancelled'])

/** Where a chunk's payload comes from. */
export type ChunkSource =
  /** Numbers: chunk 0 gets `from`, chunk 1 `from + step`, and so on, below `to`. */
  | { readonly kind: 'range'; readonly from: number; readonly step: number }
  /** Payloads that the submitter hands over block by block. */
  | { readonly kind: 'given' }

/** A block of payloads that waits to be handed in, oldest first. */
export interface BlockRef {
  readonly id: string
  /** The place of its first chunk, and how many it has. */
  readonly from: number
  readonly count: number
  /** What its payloads take; older documents do not say. */
  readonly bytes?: number
}

export interface JobBlock {
  readonly id: string
  readonly job: string
  readonly payloads: readonly JsonText[]
}

/** How many chunks may fail: so many, or this share of all. */
export type Tolerance =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'share'; readonly share: number }

/** Runs when all chunks have ended, as a task of its own. */
export interface FinalStep {
  readonly action: ActionName
  readonly pool: PoolName
  readonly settings: TaskSettings
}

export interface JobChange {
  readonly at: number
  readonly actor: string
  readonly what: string
  readonly reason: string
}

export interface JobDocument {
  readonly id: string
  readonly name: string
  readonly tenant: TenantId
  readonly action: ActionName
  readonly pool: PoolName
  /** As they were when the job was started: chunks of one job have one kind of settings. */
  readonly settings: TaskSettings
  readonly labels: Readonly<Record<string, string>>
  readonly priority: Priority
  readonly source: ChunkSource
  /** Null until the submitter has handed over the last one. */
  readonly total: number | null
  /** Chunks that can be handed in: all of a range, or as many as were handed over. */
  readonly received: number
  readonly blocks: readonly BlockRef[]
  /** Chunks that are open at once, at the most; null for as many as the service keeps. */
  readonly concurrency: number | null
  /** Chunks that are handed in per second, at the most. */
  readonly perSecond: number | null
  readonly tolerance: Tolerance
  readonly onFailure: 'stop' | 'continue'
  readonly final: FinalStep | null

  readonly status: JobStatus
  /** Why it stopped, failed or was cancelled. */
  readonly because: string | null
  readonly startedAt: number
  readonly endedAt: number | null
  /** The last ones, oldest first. */
  readonly changes: readonly JobChange[]

  /** Chunks below it are tasks of the store. */
  readonly fed: number
  /** Those below `fed` that have not ended, as ranges. */
  readonly open: string
  readonly succeeded: number
  /** Ended in any other way: dead, discarded, cancelled or gone. */
  readonly failed: number
  /** Failures that an operator's resume has accepted: they stop the job no more. */
  readonly forgiven: number
  /** A retry of failed chunks: how far it has looked, and which of them are being redriven now. */
  readonly retry: { readonly next: number; readonly redriving: string; readonly by: string } | null
  /** Chunks that ended per second, lately; and until when that was counted. */
  readonly speed: { readonly perSecond: number; readonly at: number; readonly ended: number }
  /** The final step runs once in each round; a retry or a resume after it opens the next. */
  readonly round: number
  /** The service that moves it; null if none does. */
  readonly owner: string | null
  /** Goes up with every write of the owner, who promises the next one within this time: one that is silent for long is replaced. */
  readonly beats: number
  readonly beatMs: number
}

export const jobDefinition: CollectionDefinition<JobDocument> = {
  name: 'jobs',
  indexes: {
    moving: ({ status }) => (MOVING.has(status) ? 'yes' : null),
    live: ({ status, tenant }) => (ENDED_JOB.has(status) ? null : tenant),
    tenant: ({ tenant }) => tenant,
  },
}

export const blockDefinition: CollectionDefinition<JobBlock> = {
  name: 'job-blocks',
  indexes: { job: ({ job }) => job },
}

/**
 * Open at once, if the job says nothing: enough for a fleet between two looks, and little for a queue. A fast job has as many as end
 * in this time, so that workers go on while a service takes over; `open` has room in the document for so many in whatever order they end.
 */
export const JOB_WINDOW = 4_000
const JOB_WINDOW_MAX = 12_000
const JOB_WINDOW_MS = 200

/** How many chunks of the job may be open now. */
export function windowOf({ concurrency, speed }: Pick<JobDocument, 'concurrency' | 'speed'>): number {
  const fast = Math.floor((speed.perSecond * JOB_WINDOW_MS) / 1_000)
  const window = Math.min(Math.max(JOB_WINDOW, fast), JOB_WINDOW_MAX)
  return concurrency === null ? window : Math.min(concurrency, window)
}
export const JOB_CHUNKS_MAX = 100_000_000
/** Blocks that wait at once; the submitter waits when there are that many. */
export const JOB_BLOCKS_MAX = 64
export const JOB_CHANGES_MAX = 50
const PLACE_DIGITS = 9

/** Ids that begin so are drawn here: see the refusal of submissions. */
export const JOB_PREFIX = 'job-'
export const chunkId = (job: string, place: number): TaskId =>
  `${JOB_PREFIX}${job}-${String(place).padStart(PLACE_DIGITS, '0')}` as TaskId
export const finalId = (job: string, round: number): TaskId => `${JOB_PREFIX}${job}-final-${round}` as TaskId

const noTimes = { dedupeKey: null, delayMs: 0, dueAt: null, deadlineAt: null, deadlineMs: null } as const

/** The retry token is the id itself: the document keeps the job's id from being used again. */
export function chunkSpec(job: JobDocument, place: number, payload: JsonText): TaskSpec {
  const id = chunkId(job.id, place)
  const { action, pool, tenant, labels, priority, settings } = job
  const retryToken = id as string as RetryToken
  return { id, action, pool, tenant, payload, labels, priority, settings, retryToken, ...noTimes }
}

export function finalSpec(job: JobDocument, final: FinalStep): TaskSpec {
  const { tenant, labels, priority, succeeded, failed } = job
  const id = finalId(job.id, job.round)
  const payload = JSON.stringify({ job: job.id, chunks: succeeded + failed, succeeded, failed }) as JsonText
  return { id, ...final, tenant, labels, priority, payload, retryToken: id as string as RetryToken, ...noTimes }
}

/** The number that a chunk of a range gets. */
export const rangePayload = (
  { from, step }: { readonly from: number; readonly step: number },
  place: number,
): JsonText => String(from + place * step) as JsonText
