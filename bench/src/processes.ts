// What more worker processes are worth: one or several work off a backlog that outlasts them, and the store says how
// many tasks have succeeded at two moments. Between the two everybody is warm and nobody has run out of work.

import { setTimeout as sleep } from 'node:timers/promises'
import { openFullQueue } from './contestants.ts'
import type { QueueUnderTest } from './queue-under-test.ts'
import type { Store } from './store.ts'
import { startWorker } from './worker-elsewhere.ts'

export interface ProcessesRequest {
  readonly store: Store
  /** How many tasks are there. */
  readonly tasks: number
  readonly workers: number
  /** So many tasks each, before anything is measured. */
  readonly warmupTasks: number
  readonly windowMs: number
}

interface Moment {
  readonly at: number
  readonly succeeded: number
}

const LOOK_MS = 20

export async function measureProcesses(request: ProcessesRequest): Promise<{ readonly processPerS: number }> {
  const { store, tasks, warmupTasks, windowMs } = request
  const queue = await openFullQueue(store, 'ours')
  const workers = Array.from({ length: request.workers }, () => startWorker(store, 'ours'))
  const failed = Promise.race(workers.map((worker) => worker.failed))
  const measured = async (): Promise<number> => {
    while ((await now(queue)).succeeded < warmupTasks * workers.length) await sleep(LOOK_MS)
    const from = await now(queue)
    let to = from
    // On a busy machine a whole window may pass without a settlement.
    while (to.succeeded === from.succeeded && to.succeeded < tasks) {
      await sleep(windowMs)
      to = await now(queue)
    }
    if (to.succeeded >= tasks) throw new Error(`${tasks} tasks are too few for ${windowMs} ms.`)
    return ((to.succeeded - from.succeeded) / (to.at - from.at)) * 1_000
  }
  const processPerS = await Promise.race([measured(), failed])
  await Promise.all(workers.map((worker) => worker.stop()))
  await queue.close()
  return { processPerS }
}

async function now(queue: QueueUnderTest): Promise<Moment> {
  const { succeeded } = await queue.counts()
  return { at: performance.now(), succeeded }
}
