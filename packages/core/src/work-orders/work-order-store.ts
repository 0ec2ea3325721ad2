// Work orders in a store: where they are, and how one is stepped with the entries that tell of it.

import type { Collection } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'
import { stepOrInsertTold, stepTold, untoldIndex } from '../port/told-documents.ts'
import { type Deaths, died, isClosed, newWorkOrder, type WorkOrder, type WorkOrderSubject } from './work-order.ts'

type Store = Pick<Records, 'collection' | 'journal'>

export const workOrdersIn = (engine: Pick<Records, 'collection'>): Collection<WorkOrder> =>
  engine.collection<WorkOrder>({
    name: 'work-orders',
    indexes: {
      status: ({ state }) => state.status,
      live: (one) => (isClosed(one) ? null : 'yes'),
      owner: ({ owner }) => owner,
      action: ({ action }) => action,
      untold: untoldIndex,
    },
  })

/** Tasks died: there is a work order for them afterwards, and one only, however often this is said. */
export const openWorkOrder = (
  engine: Store,
  subject: WorkOrderSubject,
  action: string,
  deaths: Deaths,
): Promise<WorkOrder | null> =>
  stepOrInsertTold(engine.journal, workOrdersIn(engine), newWorkOrder(subject, action, deaths.firstAt), (one) =>
    died(one, deaths),
  )

/** Takes a step of a work order, and tells of it. Null if `next` gave null, or there is no such work order. */
export const stepWorkOrder = (
  engine: Store,
  id: string,
  next: (one: WorkOrder) => WorkOrder | null,
): Promise<WorkOrder | null> => stepTold(engine.journal, workOrdersIn(engine), id, next)
