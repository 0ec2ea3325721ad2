// Does the length of the queue matter? A backlog is handed in by one process; another one, which never saw it before,
// works off a part of it while the rest stands, and says how fast it was and how much memory it took.

import { openQueue } from './contestants.ts'
import { perSecond } from './queue-under-test.ts'
import type { Store } from './store.ts'
import { fill } from './throughput.ts'

export interface BacklogRequest {
  readonly store: Store
  readonly tasks: number
}

export interface Backlog {
  readonly processPerS: number
  /** The most memory this process had. */
  readonly peakMb: number
}

export async function handInBacklog({ store, tasks }: BacklogRequest): Promise<null> {
  const queue = await openQueue(store, 'ours')
  await fill(queue, store, tasks)
  await queue.close()
  return null
}

export async function measureBacklog({ store, tasks }: BacklogRequest): Promise<Backlog> {
  const queue = await openQueue(store, 'ours')
  const processPerS = await perSecond(tasks, () => queue.process(tasks))
  await queue.close()
  return { processPerS, peakMb: process.resourceUsage().maxRSS / 1_024 }
}
