// How callers name a work order: by its id, or by the failure group that it is about.

import { casesOf, NotFoundError, type WorkOrder, workOrderId, workOrdersIn } from '@reprise/core'
import { z } from 'zod'
import type { Context } from './context.ts'
import { checkedBy } from './schemas/names.ts'

export const WorkOrderId = z.object({
  id: checkedBy((value) => value, 'The id of a work order, or the fingerprint of a failure group that has one.'),
})

/** By its id, or by the group that it is about: also by one that was merged into that. */
export async function workOrderOf({ engine }: Pick<Context, 'engine'>, asked: string): Promise<WorkOrder> {
  const orders = workOrdersIn(engine)
  const fingerprint = asked.startsWith('wo-') ? asked.slice('wo-'.length) : asked
  const found = await orders.get(workOrderId({ fingerprint }))
  if (found !== null) return found.document
  const root = (await casesOf(engine, [fingerprint])).get(fingerprint)?.mergedInto ?? null
  const merged = root === null ? null : await orders.get(workOrderId({ fingerprint: root }))
  if (merged === null) throw new NotFoundError('work order', asked)
  return merged.document
}
