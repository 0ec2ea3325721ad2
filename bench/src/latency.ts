// From submit to the start of the handler when nothing else is going on: one task at a time, the next one only when the
// one before has started and the worker has come to rest. The worker is in this process, or in another on the same store.

import { setTimeout as sleep } from 'node:timers/promises'
import { type FullSide, openFullQueue } from './contestants.ts'
import { inputOf } from './payload.ts'
import type { FullQueue, Handler } from './queue-under-test.ts'
import type { Store } from './store.ts'
import { moment, startWorker } from './worker-elsewhere.ts'

/** Where the worker is, seen from the client. */
export type WorkerPlace = 'in process' | 'across processes'

export interface LatencyRequest {
  readonly store: Store
  readonly side: FullSide
  readonly samples: number
  readonly worker: WorkerPlace
}

export interface Latency {
  readonly samplesMs: readonly number[]
}

const REST_MS = 10
/** First tasks are slower: nothing is compiled yet. */
export const WARMUP_SAMPLES = 50
const START_MS_MAX = 30_000

export async function measureLatency({ store, side, samples, worker }: LatencyRequest): Promise<Latency> {
  const queue = await openFullQueue(store, side)
  const starts = new Starts()
  const elsewhere =
    worker === 'across processes'
      ? startWorker(store, side, { onStarted: ({ number, moment: at }) => starts.add(number, at) })
      : null
  const working = elsewhere === null ? workHere(queue, starts) : elsewhere.failed
  const samplesMs: number[] = []
  for (let number = 0; number < WARMUP_SAMPLES + samples; number++) {
    const latencyMs = await Promise.race([sample(queue, starts, number), working])
    if (number >= WARMUP_SAMPLES) samplesMs.push(latencyMs)
  }
  await elsewhere?.stop()
  await queue.close()
  return { samplesMs }
}

/** One task's latency, with a rest before it. */
export async function sample(queue: FullQueue, starts: Starts, number: number): Promise<number> {
  await sleep(REST_MS)
  const submittedAt = moment()
  const [startedAt] = await Promise.all([starts.of(number), queue.submitOne(inputOf(number))])
  return startedAt - submittedAt
}

/** Never comes back; rejects if the worker fails. */
async function workHere(queue: FullQueue, starts: Starts): Promise<never> {
  const handler: Handler = ({ number }) => {
    starts.add(number, moment())
    return 'succeeds'
  }
  await queue.process(Number.POSITIVE_INFINITY, handler)
  throw new Error('The worker has ended.')
}

/** Handlers' starts, for those who wait for one of them. */
export class Starts {
  readonly #waiting = new Map<number, (startedAt: number) => void>()

  add(number: number, startedAt: number): void {
    this.#waiting.get(number)?.(startedAt)
    this.#waiting.delete(number)
  }

  of(number: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const tooLate = setTimeout(() => reject(new Error(`Task ${number} did not start.`)), START_MS_MAX)
      this.#waiting.set(number, (startedAt) => {
        clearTimeout(tooLate)
        resolve(startedAt)
      })
    })
  }
}
