// Tasks as a caller may name them. A caller who is limited to tenants says `order-17` and means the own one, which is stored
// in the namespace of the tenant; the stored id works too. Another tenant's task is answered as one that does not exist.

import {
  type Engine,
  meantIds,
  NotFoundError,
  type Task,
  type TaskFilter,
  type TaskId,
  type TaskLook,
} from '@reprise/core'
import { type Caller, mayTouch } from './caller.ts'

type Store = Pick<Engine, 'task'>

/**
 * The task if there is one that the caller may know of; else null. Of what may be another's only little is read: asking for it
 * takes no longer if it exists.
 */
export async function ownTask(
  engine: Store,
  caller: Pick<Caller, 'tenants'>,
  id: TaskId,
  look: TaskLook = { light: true },
): Promise<Task | null> {
  if (caller.tenants === null) return engine.task(id, look)
  const found = await Promise.all(meantIds(caller.tenants, id).map((one) => engine.task(one, { light: true })))
  const own = found.find((task) => task !== null && mayTouch(caller, task.tenant)) ?? null
  return own === null || look.light === true ? own : engine.task(own.id, look)
}

export async function visibleTask(engine: Store, caller: Caller, id: TaskId, look: TaskLook = {}): Promise<Task> {
  const task = await ownTask(engine, caller, id, look)
  if (task === null) throw new NotFoundError('task', id)
  return task
}

/** A filter in which ids stand for all stored ids that the caller may mean. */
export function ownFilter(filter: TaskFilter, { tenants }: Pick<Caller, 'tenants'>): TaskFilter {
  if (tenants === null) return filter
  const terms = filter.terms.map((term) => {
    const { condition } = term
    if (condition.kind !== 'name' || condition.field !== 'id') return term
    const globs = condition.globs.flatMap((glob) => meantIds(tenants, glob as TaskId))
    return { ...term, condition: { ...condition, globs } }
  })
  return { ...filter, terms }
}
