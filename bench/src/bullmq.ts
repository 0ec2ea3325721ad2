// The peer on Redis: BullMQ, on ioredis, as its documentation recommends it: one Queue, one Worker with its own
// connections and a concurrency of a hundred, every default besides. It keeps what has ended, as Reprise does (its
// default too). Other batch sizes and concurrencies and its node-redis adapter make it no faster; auto-pipelining makes
// it slower by a third.

import type { Input } from './payload.ts'
import { loadPeer } from './peers.ts'
import { CONCURRENCY, type FullQueue, type OpenOptions, RETRY_DELAY_MS } from './queue-under-test.ts'
import type { Store } from './store.ts'

// The peer is no dependency, so its types are not at hand: this is the part of it that is used.
interface JobOptions {
  readonly attempts?: number
  readonly backoff?: { readonly type: 'fixed'; readonly delay: number }
  readonly timestamp?: number
  readonly delay?: number
}

interface NewJob {
  readonly name: string
  readonly data: Input
  readonly opts?: JobOptions
}

interface Job {
  readonly data: Input
  /** Before this one. */
  readonly attemptsMade: number
}

interface Connection {
  readonly host: string
  readonly port: number
}

interface BullQueue {
  add(name: string, data: Input): Promise<unknown>
  addBulk(jobs: readonly NewJob[]): Promise<unknown>
  getJobCounts(...states: readonly string[]): Promise<Readonly<Record<string, number>>>
  retryJobs(options: { readonly state: 'failed' }): Promise<void>
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
}

interface BullWorker {
  on(event: 'completed' | 'failed', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  close(): Promise<void>
}

interface BullMq {
  readonly Queue: new (
    name: string,
    options: { readonly connection: Connection; readonly defaultJobOptions?: JobOptions },
  ) => BullQueue
  readonly Worker: new (
    name: string,
    run: (job: Job) => Promise<void>,
    options: { readonly connection: Connection; readonly concurrency: number },
  ) => BullWorker
  readonly UnrecoverableError: new (message: string) => Error
}

const QUEUE = 'bench'
const JOB = 'job'
const RETRYING: JobOptions = { attempts: 2, backoff: { type: 'fixed', delay: RETRY_DELAY_MS } }

export async function openBullMq(store: Store, { retrying = false }: OpenOptions = {}): Promise<FullQueue> {
  const { Queue, Worker, UnrecoverableError } = loadPeer('redis', 'bullmq') as BullMq
  const { hostname, port } = new URL(store.at)
  const connection: Connection = { host: hostname, port: Number(port) }
  const queue = new Queue(QUEUE, { connection, ...(retrying ? { defaultJobOptions: RETRYING } : {}) })
  await queue.waitUntilReady()
  let worker: BullWorker | null = null
  return {
    async submit(inputs) {
      await queue.addBulk(inputs.map((data) => ({ name: JOB, data })))
    },
    async submitOne(input) {
      await queue.add(JOB, input)
    },
    async submitDelayed(inputs, dueAt) {
      const timestamp = Date.now()
      const optionsOf = (index: number): JobOptions => ({ timestamp, delay: (dueAt[index] ?? 0) - timestamp })
      await queue.addBulk(inputs.map((data, index) => ({ name: JOB, data, opts: optionsOf(index) })))
    },
    async process(attempts, handler) {
      let ended = 0
      const allEnded = Promise.withResolvers<void>()
      const onEnded = (): void => {
        if (++ended === attempts) allEnded.resolve()
      }
      const run = async ({ data, attemptsMade }: Job): Promise<void> => {
        const outcome = handler === undefined ? 'succeeds' : handler(data, attemptsMade + 1)
        if (outcome === 'dies') throw new UnrecoverableError('this one never works')
        if (outcome === 'fails') throw new Error('works the next time')
      }
      worker = new Worker(QUEUE, run, { connection, concurrency: CONCURRENCY })
      worker.on('completed', onEnded)
      worker.on('failed', onEnded)
      worker.on('error', (error) => allEnded.reject(error))
      await allEnded.promise
    },
    async counts() {
      const { completed = 0, failed = 0 } = await queue.getJobCounts('completed', 'failed')
      return { succeeded: completed, dead: failed }
    },
    async redrive() {
      await queue.retryJobs({ state: 'failed' })
    },
    async close() {
      await worker?.close()
      await queue.close()
    },
  }
}
