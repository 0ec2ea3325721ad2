// An operator sends everything that has died back to work, in one call: how many dead letters a second go back to the
// queue. That they died, each once and for good, is not measured. `managed`: as a redrive that an orchestrator moves, without a
// canary or limits; its dead letters were written down before, and what is measured is from its start until all are sent.

import { createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import { createRedrives } from '@reprise/orchestrator'
import { type FullSide, openFullQueue } from './contestants.ts'
import { checkCounts, perSecond } from './queue-under-test.ts'
import { addressOf, type Store } from './store.ts'
import { fill } from './throughput.ts'

export interface RedriveRequest {
  readonly store: Store
  readonly side: FullSide
  readonly tasks: number
  readonly managed?: boolean
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
    const redrivePerS =
      request.managed === true ? await managed(store, tasks) : await perSecond(tasks, () => queue.redrive())
    await checkCounts(queue, { succeeded: 0, dead: 0 })
    return { redrivePerS }
  } finally {
    await queue.close()
  }
}

const LOOK_MS = 5

async function managed(store: Store, tasks: number): Promise<number> {
  const client = await createClient({ engine: addressOf(store) })
  const connection = await connectEngine(addressOf(store))
  const redrives = createRedrives({ engine: connection.engine })
  try {
    const why = { reason: 'measuring' }
    let redrive = await client.createRedrive({ all: true, canary: [], ...why })
    const { id } = redrive
    while (redrive.state === 'collecting') redrive = await client.collectRedrive({ id })
    await client.startRedrive({ id, ...why })
    return await perSecond(tasks, async () => {
      await redrives.start()
      do {
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
        redrive = await client.getRedrive({ id })
      } while (redrive.counts.pending > 0)
    })
  } finally {
    await redrives.stop()
    await connection.close()
    await client.close()
  }
}
