// What operators want of a worker: so far, that it finishes what it has and takes nothing new. The order rests in the store
// and names an epoch, so that a worker that comes back under the same id is free of it. The worker finds it at its heartbeat.

import type { WorkerId } from '../model/ids.ts'
import type { By } from '../port/changes.ts'
import type { Document, Stored } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'

interface OrderDocument extends Document {
  readonly epoch: number
  readonly actor: string
  readonly reason: string
}

const ordersOf = (engine: Pick<Records, 'collection'>) =>
  engine.collection<OrderDocument>({ name: 'worker-orders', indexes: {} })

/** Asked for again it changes nothing; true if it is new. */
export async function orderDrain(engine: Records, worker: WorkerId, epoch: number, by: By): Promise<boolean> {
  const orders = ordersOf(engine)
  const found: Stored<OrderDocument> | null = await orders.get(worker)
  if (found !== null && found.document.epoch >= epoch) return false
  const order = { id: worker, epoch, actor: by.actor, reason: by.reason }
  if (found === null) await orders.insert(order)
  else await orders.update(order, found.version)
  const data = { worker, epoch, order: 'drain' }
  await engine.journal.append([{ type: 'note', taskId: null, attempt: null, actor: by.actor, reason: by.reason, data }])
  return true
}

/** Whether this worker is to finish and take nothing new. */
export async function isDrainOrdered(
  engine: Pick<Records, 'collection'>,
  worker: WorkerId,
  epoch: number,
): Promise<boolean> {
  const found = await ordersOf(engine).get(worker)
  return found !== null && found.document.epoch === epoch
}
