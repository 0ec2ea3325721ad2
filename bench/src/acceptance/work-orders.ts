// Work orders: dead letters of many causes, each cause with its work order; each is completed with a result. How many of them does the
// store know as completed, with who did it and what came of it?

import { createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import { createWorkOrders } from '@reprise/orchestrator'
import { deadLetter } from './replay.ts'
import { type Bounds, percent, type Row, until } from './row.ts'

const CAUSES = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india', 'juliet']
const WANTED = 0.95
const RESULT = 'the route is back'

export async function trackedWorkOrders(engine: string, { tasks }: Bounds): Promise<Row> {
  const client = await createClient({ engine })
  const connection = await connectEngine(engine)
  const service = createWorkOrders({ engine: connection.engine, intervalMs: 100 })
  await service.start()
  try {
    const count = Math.max(CAUSES.length, tasks)
    for (let at = 0; at < count; at++) {
      await connection.engine.submit([deadLetter(at, `no route to ${CAUSES[at % CAUSES.length]}`)])
    }
    const { items: groups } = await client.listFailureGroups({ limit: 100 })
    const opened = await until(
      'every cause has its work order',
      () => client.listWorkOrders({ limit: 100 }),
      ({ items }) => items.length === groups.length,
    )
    for (const { id } of opened.items) await client.closeWorkOrder({ id, result: RESULT })
    const { items } = await client.listWorkOrders({ status: 'resolved', limit: 100 })
    const tracked = items.filter(({ state }) => state.status === 'resolved' && state.result === RESULT).length
    const share = tracked / groups.length
    return {
      criterion: 'work orders completed are tracked',
      wanted: `at least ${percent(WANTED)}`,
      measured: percent(share),
      value: share,
      isMet: share >= WANTED && groups.length === CAUSES.length,
      note: `${tracked} of ${groups.length} causes of ${count} dead letters: opened, completed, result on record`,
    }
  } finally {
    await service.stop()
    await connection.close()
    await client.close()
  }
}
