// An operator sends everything that has died back to work, in one call: how many dead letters a second go back to the
// queue. That they died, each once and for good, is not measured.

import { type FullSide, openFullQueue } from './contestants.ts'
import { checkCounts, perSecond } from './queue-under-test.ts'
import type { Store } from './store.ts'
import { fill } from './throughput.ts'

export interface RedriveRequest {
  readonly store: Store
  readonly side: FullSide
  readonly tasks: number
}

export async function measureRedrive(request: RedriveRequest): Promise<{ readonly redrivePerS: number }> {
  const { store, side, tasks } = request
  const dying = await openFullQueue(store, side)
  await fill(dying, store, tasks)
  await dying.process(tasks, () => 'dies')
  await dying.close()

  const queue = await openFullQueue(store, side)
  try {
    await checkCounts(queue, { succeeded: 0, dead: tasks })
    const redrivePerS = await perSecond(tasks, () => queue.redrive())
    await checkCounts(queue, { succeeded: 0, dead: 0 })
    return { redrivePerS }
  } finally {
    await queue.close()
  }
}
