// A durable job from the side of its submitter: start it, hand its chunks over block by block, follow it, read its results in
// order. Nothing is held here but one block: the job lives in the store, and an orchestrator moves it. A submitter that died begins again
// with the same id, and goes on behind the chunks that the job has already.

import { type Clock, InvalidError, JobFailedError, sleep, systemClock } from '@reprise/core'
import { blocksOf } from './blocks.ts'

/** What it needs of a client of @reprise/client, over HTTP or straight on an engine. */
export interface JobCalls {
  startJob(input: StartRequest): Promise<JobState>
  handOverChunks(input: HandOverRequest): Promise<{ readonly received: number; readonly isFull: boolean }>
  getJob(input: { readonly id: string }): Promise<JobState>
  listJobChunks(input: ChunkRequest): Promise<{ readonly items: readonly JobChunk[]; readonly next: string | null }>
}

interface StartRequest extends JobSettings {
  readonly id?: string
  readonly range?: ChunkRange
}

interface HandOverRequest {
  readonly id: string
  readonly from: number
  readonly payloads: unknown[]
  readonly last?: boolean
}

interface ChunkRequest {
  readonly id: string
  readonly limit?: number
  readonly cursor?: string
  readonly status?: 'succeeded' | 'failed' | 'open'
}

export interface ChunkRange {
  readonly from?: number
  readonly to: number
  readonly step?: number
}

export interface JobSettings {
  /** What each chunk runs. */
  readonly action: string
  readonly name?: string
  readonly tenant?: string
  readonly pool?: string
  readonly labels?: Record<string, string>
  readonly priority?: number
  /** Chunks that are open at once. */
  readonly concurrency?: number
  /** Chunks that are handed in per second. */
  readonly maxPerSecond?: number
  /** How many chunks may fail, or which share of them: 10, or '5%'. None if not given. */
  readonly tolerate?: number | string
  /** When more failed than that: hand in no more (if not given), or go on to the end. */
  readonly onFailure?: 'stop' | 'continue'
  /** An action that runs once, when all chunks have ended. */
  readonly final?: string
}

export interface DurableJob extends JobSettings {
  /** The same id is the same job: give one to be able to go on after a crash. Drawn at random if not given. */
  readonly id?: string
  /** The payloads, in their order: a range of numbers, an array, or anything that gives one after the other. */
  readonly chunks: { readonly range: ChunkRange } | Iterable<unknown> | AsyncIterable<unknown>
}

export interface JobState {
  readonly id: string
  readonly status: string
  readonly because: string | null
  readonly total: number | null
  readonly received: number
  readonly succeeded: number
  readonly failed: number
  readonly fraction: number | null
  readonly perSecond: number
  readonly leftMs: number | null
}

export interface JobChunk {
  readonly place: number
  readonly taskId: string
  readonly status: string
  readonly result?: unknown
  readonly failure?: { readonly code: string; readonly message: string } | undefined
}

export interface FollowOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (job: JobState) => void
  readonly clock?: Clock
}

const FULL_REST_MS = 100
const LOOK_EVERY_MS = 250
const AT_REST: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'stopped'])

/** Starts the job, or finds it again, and hands over all of its chunks. Comes back when the job has them. */
export async function startDurableJob(
  client: JobCalls,
  { chunks, ...settings }: DurableJob,
  options: FollowOptions = {},
): Promise<JobState> {
  if ('range' in chunks) return client.startJob({ ...settings, range: chunks.range })
  const job = await client.startJob(settings)
  if (job.total !== null) return job
  await handOver(client, job, chunks, options)
  return client.getJob({ id: job.id })
}

async function handOver(
  client: JobCalls,
  { id, received }: JobState,
  chunks: Iterable<unknown> | AsyncIterable<unknown>,
  options: FollowOptions,
): Promise<void> {
  let from = received
  let known = received
  for await (const block of blocksOf(chunks, options)) {
    const payloads = block.slice(known)
    known -= block.length - payloads.length
    if (payloads.length === 0) continue
    await handedOver(client, { id, from, payloads }, options)
    from += payloads.length
  }
  if (known > 0) {
    throw new InvalidError(
      `The job '${id}' has ${received} chunks already, and only ${received - known} were given now.`,
    )
  }
  await handedOver(client, { id, from, payloads: [], last: true }, options)
}

/** Sends one call until the job has taken all of it. A job that has stopped takes nothing until somebody lets it go on. */
async function handedOver(client: JobCalls, request: HandOverRequest, options: FollowOptions): Promise<void> {
  const { signal, clock = systemClock, onProgress } = options
  for (;;) {
    signal?.throwIfAborted()
    const { isFull } = await client.handOverChunks(request)
    if (!isFull) return
    const job = await client.getJob({ id: request.id })
    if (job.status === 'stopped') throw new JobFailedError(job.id, job.status, job.because)
    onProgress?.(job)
    await sleep(clock, FULL_REST_MS, signal, { hold: true })
  }
}

/** Waits until the job has succeeded. `JobFailedError` if it fails, stops or is cancelled. */
export async function jobEnded(client: JobCalls, id: string, options: FollowOptions = {}): Promise<JobState> {
  const { signal, onProgress, clock = systemClock } = options
  for (;;) {
    signal?.throwIfAborted()
    const job = await client.getJob({ id })
    onProgress?.(job)
    if (job.status === 'succeeded') return job
    if (AT_REST.has(job.status)) throw new JobFailedError(job.id, job.status, job.because)
    await sleep(clock, LOOK_EVERY_MS, signal, { hold: true })
  }
}

/** The chunks of a job with their results, in their order: page by page, so that any number fits. */
export async function* jobChunks(
  client: Pick<JobCalls, 'listJobChunks'>,
  id: string,
  status?: ChunkRequest['status'],
): AsyncGenerator<JobChunk> {
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<JobCalls['listJobChunks']>> = await client.listJobChunks({
      id,
      limit: 500,
      ...(cursor === null ? {} : { cursor }),
      ...(status === undefined ? {} : { status }),
    })
    yield* page.items
    cursor = page.next
  } while (cursor !== null)
}
