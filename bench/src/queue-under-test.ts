// What the benchmark asks of a contestant, whoever it is: Reprise, a peer, or the limit. And the one measurement that
// all of them go through alike: hand in so many tasks, then work them off.

import type { Mode } from './arguments.ts'
import { type Input, inputBatches } from './payload.ts'

/** How many handlers may run at once, for every contestant that has handlers. */
export const CONCURRENCY = 100

export interface QueueUnderTest {
  /** Comes back when the store has accepted them all. */
  submit(inputs: readonly Input[]): Promise<void>
  /** Starts working, and comes back when this many tasks have ended in the store. Called once. */
  process(count: number): Promise<void>
  /** How many tasks the store says have succeeded. */
  succeeded(): Promise<number>
  close(): Promise<void>
}

export type OpenQueue = (path: string, mode: Mode) => Promise<QueueUnderTest>

export interface ThroughputRequest {
  readonly path: string
  readonly mode: Mode
  readonly tasks: number
  readonly warmupTasks: number
  /** False to measure submission only. */
  readonly process: boolean
}

export interface Throughput {
  readonly submitPerS: number
  readonly processPerS: number | null
}

export async function measureThroughput(open: OpenQueue, request: ThroughputRequest): Promise<Throughput> {
  const { path, mode, tasks, warmupTasks } = request
  await run(open, `${path}-warmup`, mode, warmupTasks, true)
  return run(open, path, mode, tasks, request.process)
}

async function run(open: OpenQueue, path: string, mode: Mode, tasks: number, process: boolean): Promise<Throughput> {
  const queue = await open(path, mode)
  try {
    const batches = [...inputBatches(0, tasks)]
    const submitPerS = await perSecond(tasks, async () => {
      for (const batch of batches) await queue.submit(batch)
    })
    batches.length = 0
    if (!process) return { submitPerS, processPerS: null }
    const processPerS = await perSecond(tasks, () => queue.process(tasks))
    // A contestant that lost a task has no figure.
    const succeeded = await queue.succeeded()
    if (succeeded !== tasks) throw new Error(`Of ${tasks} tasks ${succeeded} have succeeded.`)
    return { submitPerS, processPerS }
  } finally {
    await queue.close()
  }
}

/** The rate at which the work does `count` of something. Garbage of earlier work is not held against it. */
export async function perSecond(count: number, work: () => Promise<void>): Promise<number> {
  globalThis.gc?.()
  const startedAt = performance.now()
  await work()
  return (count / (performance.now() - startedAt)) * 1_000
}
