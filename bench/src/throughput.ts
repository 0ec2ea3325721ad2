// The measurement that all contestants go through alike: hand in so many tasks, then work them off.

import type { EngineName } from './arguments.ts'
import { openQueue } from './contestants.ts'
import type { Side } from './figures.ts'
import { type Input, inputBatches } from './payload.ts'
import { checkCounts, perSecond, type QueueUnderTest } from './queue-under-test.ts'
import { clearStore, type Store } from './store.ts'

export interface ThroughputRequest {
  readonly store: Store
  readonly side: Side
  readonly tasks: number
  readonly warmupTasks: number
  /** False to measure submission only. */
  readonly process: boolean
}

export interface Throughput {
  readonly submitPerS: number
  readonly processPerS: number | null
}

// SQLite works in the calling process, so more than one would only wait. A server works while the next batch is made:
// with four on the way it never waits for a client, whoever that is.
const BATCHES_IN_FLIGHT: Readonly<Record<EngineName, number>> = { sqlite: 1, redis: 4 }

export async function measureThroughput(request: ThroughputRequest): Promise<Throughput> {
  const { store, warmupTasks } = request
  if (warmupTasks > 0) {
    await run({ ...request, tasks: warmupTasks, process: true })
    await clearStore(store)
  }
  return run(request)
}

async function run({ store, side, tasks, process }: ThroughputRequest): Promise<Throughput> {
  const queue = await openQueue(store, side)
  try {
    const batches = [...inputBatches(0, tasks)]
    const submitPerS = await perSecond(tasks, () => submitBatches(queue, batches, BATCHES_IN_FLIGHT[store.engine]))
    batches.length = 0
    if (!process) return { submitPerS, processPerS: null }
    const processPerS = await perSecond(tasks, () => queue.process(tasks))
    await checkCounts(queue, { succeeded: tasks, dead: 0 })
    return { submitPerS, processPerS }
  } finally {
    await queue.close()
  }
}

/** Hands in tasks as fast as the contestant takes them, without measuring. */
export async function fill(queue: QueueUnderTest, { engine }: Store, tasks: number): Promise<void> {
  await submitBatches(queue, inputBatches(0, tasks), BATCHES_IN_FLIGHT[engine])
}

async function submitBatches(queue: QueueUnderTest, batches: Iterable<Input[]>, inFlight: number): Promise<void> {
  const left = Iterator.from(batches)
  // All take from the same iterator, so each batch is handed in once.
  const submitSome = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) await queue.submit(next.value)
  }
  await Promise.all(Array.from({ length: inFlight }, submitSome))
}
