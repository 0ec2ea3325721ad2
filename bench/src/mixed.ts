// Tasks as they are outside of benchmarks: one in ten fails once and succeeds at its second attempt, one in a hundred
// fails for good. The rate counts tasks that reached their end, not attempts.

import { type FullSide, openFullQueue } from './contestants.ts'
import { chanceOf } from './payload.ts'
import { checkCounts, type Handler, type Outcome, perSecond } from './queue-under-test.ts'
import type { Store } from './store.ts'
import { fill } from './throughput.ts'

/** How the first attempt of a task ends. */
function firstOutcome(number: number): Outcome {
  const percent = chanceOf(number) * 100
  if (percent < 1) return 'dies'
  return percent < 11 ? 'fails' : 'succeeds'
}

const handler: Handler = ({ number }, attempt) => (attempt === 1 ? firstOutcome(number) : 'succeeds')

export interface MixedRequest {
  readonly store: Store
  readonly side: FullSide
  readonly tasks: number
}

export async function measureMixed({ store, side, tasks }: MixedRequest): Promise<{ readonly processPerS: number }> {
  const outcomes = Array.from({ length: tasks }, (_, number) => firstOutcome(number))
  const dead = outcomes.filter((outcome) => outcome === 'dies').length
  const attempts = tasks + outcomes.filter((outcome) => outcome === 'fails').length
  const queue = await openFullQueue(store, side, { retrying: true })
  try {
    await fill(queue, store, tasks)
    const processPerS = await perSecond(tasks, () => queue.process(attempts, handler))
    await checkCounts(queue, { succeeded: tasks - dead, dead })
    return { processPerS }
  } finally {
    await queue.close()
  }
}
