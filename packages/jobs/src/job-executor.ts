// Runs the chunks of a job over an adapter: several at once, each again while it fails and has retries left (E1–E4). A chunk has
// one worker at a time, which stays with it through its retries and then takes the next one. The executor keeps what it
// knows in memory. A job that must outlive its process is a durable one: docs/jobs.md.

import {
  type Backoff,
  backoffMs,
  ChunkFailedError,
  type Clock,
  check,
  InvalidError,
  quietly,
  sleep,
  systemClock,
} from '@reprise/core'
import type { Chunk, ChunkAdapter, ChunkOutcome } from './adapter.ts'

export interface Job<Input = unknown> {
  readonly chunks: Iterable<Chunk<Input>> | AsyncIterable<Chunk<Input>>
}

export interface JobExecutionOptions {
  /** How many chunks run at once; 1 if not given. */
  readonly concurrency?: number
  /** How often a chunk is tried again after its first attempt; 0 if not given. */
  readonly retries?: number
  /** Milliseconds before a retry; 1000 if not given. */
  readonly retryDelay?: number
  /** `exponential` doubles the delay with each retry of a chunk, up to `maxRetryDelay`; `constant` if not given. */
  readonly backoff?: 'constant' | 'exponential'
  /** Milliseconds; 60000 if not given. */
  readonly maxRetryDelay?: number
  /** What happens when a chunk has no retries left: its error stops the job, or is collected. `stop` if not given. */
  readonly onFailure?: 'stop' | 'collect'
  /** Stops the job. */
  readonly signal?: AbortSignal
}

export interface ChunkReport extends ChunkOutcome {
  readonly id: string
  readonly attempts: number
}

export interface FailedChunk {
  readonly id: string
  readonly attempts: number
  readonly error: unknown
}

/** Both in the order of the chunks. */
export interface JobReport {
  readonly succeeded: readonly ChunkReport[]
  /** Empty unless failures are collected. */
  readonly failed: readonly FailedChunk[]
}

export interface ExecutorOptions {
  readonly clock?: Clock
  /** Takes each warning; the console if not given. */
  readonly warn?: (line: string) => void
}

const RETRY_DELAY_MS = 1_000
const RETRY_DELAY_MS_MAX = 60_000

const CHECKS: check.Table<JobExecutionOptions> = {
  concurrency: check.whole(1, 10_000),
  retries: check.whole(0),
  retryDelay: check.msFrom0,
  backoff: check.oneOf('constant', 'exponential'),
  maxRetryDelay: check.msFrom0,
  onFailure: check.oneOf('stop', 'collect'),
  signal: check.having('addEventListener', 'throwIfAborted'),
}

const ADAPTER = { adapter: check.having('execute') }

type Ended = { readonly place: number } & (
  | { readonly kind: 'succeeded'; readonly report: ChunkReport }
  | { readonly kind: 'failed'; readonly report: FailedChunk }
)

export class JobExecutor<Input = unknown> {
  readonly #adapter: ChunkAdapter<Input>
  readonly #clock: Clock
  readonly #warn: (line: string) => void

  constructor(adapter: ChunkAdapter<Input>, { clock = systemClock, warn = console.warn }: ExecutorOptions = {}) {
    check.options({ adapter }, ADAPTER, 'job executor option', ['adapter'])
    this.#adapter = adapter
    this.#clock = clock
    this.#warn = warn
  }

  /** Comes back, or throws the error that stopped the job, when nothing of the job runs any more. */
  async execute(job: Job<Input>, options: JobExecutionOptions = {}): Promise<JobReport> {
    check.options(options, CHECKS, 'job option')
    const { concurrency = 1, onFailure = 'stop', signal } = options
    const stop = new AbortController()
    const signals = signal === undefined ? [stop.signal] : [stop.signal, signal]
    const run = new Run(AbortSignal.any(signals), retrying(options))
    const chunks = iteratorOf(job.chunks)
    const ended: Ended[] = []
    const seen = new Set<string>()
    let stoppedBy: { readonly error: unknown } | null = null
    const stopWith = (error: unknown): void => {
      stoppedBy ??= { error }
      stop.abort()
    }

    const worker = async (workerId: number): Promise<void> => {
      while (!run.signal.aborted) {
        const next = await chunks.next()
        if (next.done === true || run.signal.aborted) return
        const chunk = checkedChunk(next.value, seen)
        const place = seen.size
        const end = await this.#runChunk(workerId, chunk, run)
        if (end === null) return
        ended.push({ ...end, place })
        if (end.kind === 'failed' && onFailure === 'stop') return stopWith(end.report.error)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, (_, index) => worker(index + 1).catch(stopWith)))
    await chunks.close()
    // A chunk may have failed because the caller stopped the job: what the caller says counts.
    signal?.throwIfAborted()
    if (stoppedBy !== null) throw (stoppedBy as { readonly error: unknown }).error

    const inOrder = ended.toSorted((a, b) => a.place - b.place)
    return {
      succeeded: inOrder.flatMap((end) => (end.kind === 'succeeded' ? [end.report] : [])),
      failed: inOrder.flatMap((end) => (end.kind === 'failed' ? [end.report] : [])),
    }
  }

  /** Null if the job was stopped before the chunk came to an end of its own. */
  async #runChunk(workerId: number, chunk: Chunk<Input>, run: Run) {
    const { id } = chunk
    const { retries, backoff } = run.retrying
    for (let attempt = 1; ; attempt++) {
      try {
        const outcome = await this.#adapter.execute({ chunk, attempt, signal: run.signal })
        if (outcome.exitCode !== 0) throw new ChunkFailedError(id, outcome.exitCode, outcome.stderr)
        return { kind: 'succeeded', report: { id, attempts: attempt, ...outcome } } as const
      } catch (error) {
        if (run.signal.aborted) return null
        if (attempt > retries) return { kind: 'failed', report: { id, attempts: attempt, error } } as const
        const delayMs = backoffMs(backoff, attempt - 1, 0)
        const failed = `Chunk ${id} failed (Attempt ${attempt}/${retries})`
        quietly(() => this.#warn(`[Worker ${workerId}] ${failed}. Retrying in ${delayMs}ms...`))
        await sleep(this.#clock, delayMs, run.signal, { hold: true })
        if (run.signal.aborted) return null
      }
    }
  }
}

class Run {
  readonly signal: AbortSignal
  readonly retrying: ReturnType<typeof retrying>

  constructor(signal: AbortSignal, how: ReturnType<typeof retrying>) {
    this.signal = signal
    this.retrying = how
  }
}

function retrying(options: JobExecutionOptions) {
  const { retries = 0, retryDelay = RETRY_DELAY_MS, maxRetryDelay = RETRY_DELAY_MS_MAX } = options
  const backoff: Backoff =
    options.backoff === 'exponential'
      ? {
          kind: 'exponential',
          baseMs: retryDelay,
          multiplier: 2,
          maxMs: Math.max(maxRetryDelay, retryDelay),
          jitter: 0,
        }
      : { kind: 'fixed', delayMs: retryDelay, jitter: 0 }
  return { retries, backoff }
}

/** Takes the next chunk for one worker after the other: a generator must not be asked twice at the same time. */
function iteratorOf<Item>(items: Iterable<Item> | AsyncIterable<Item>) {
  if (typeof items !== 'object' || items === null || !(Symbol.asyncIterator in items || Symbol.iterator in items)) {
    throw new InvalidError('The chunks of a job must be an array, a generator, or something else to iterate over.')
  }
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  let turn: Promise<unknown> = Promise.resolve()
  let isOver = false
  return {
    next(): Promise<IteratorResult<Item>> {
      const taken = turn.then(async (): Promise<IteratorResult<Item>> => {
        if (isOver) return { done: true, value: undefined }
        const next = await iterator.next()
        isOver = next.done === true
        return next
      })
      turn = taken.catch(() => (isOver = true))
      return taken
    },
    /** A job that was stopped lets go of what its chunks come from. */
    async close(): Promise<void> {
      if (!isOver) await iterator.return?.()
    },
  }
}

function checkedChunk<Input>(chunk: Chunk<Input>, seen: Set<string>): Chunk<Input> {
  if (typeof chunk?.id !== 'string' || chunk.id === '') throw new InvalidError('A chunk has an id: a text, not empty.')
  if (seen.has(chunk.id)) throw new InvalidError(`Two chunks of the job have the id '${chunk.id}'.`)
  seen.add(chunk.id)
  return chunk
}
