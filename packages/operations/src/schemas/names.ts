// The smallest schemas: names, times, pages. Names are checked by core's own functions, so that a name is refused for the
// same reasons and in the same words wherever it comes in.

import {
  type ActionName,
  actionName,
  checkedName,
  checkedText,
  isRepriseError,
  knownName,
  PAGE_LIMIT_MAX,
  type PoolName,
  poolName,
  type TaskId,
  type TenantId,
  taskId,
  tenantId,
  type WorkerId,
  workerId,
} from '@reprise/core'
import { z } from 'zod'

/** A text that one of core's functions accepts, in the type that it gives. */
export function checkedBy<T>(check: (value: string) => T, description: string, maxLength = 1_000) {
  return z
    .string()
    .max(maxLength)
    .transform((value, context): T => {
      try {
        return check(value)
      } catch (error) {
        context.addIssue(isRepriseError(error) ? error.message : 'It can not be used.')
        return z.NEVER
      }
    })
    .meta({ description })
}

/** Of something that there is, or of nothing: also names that would be refused today lead to what has them. */
const knownBy = <Name extends string>(what: string, description: string) =>
  checkedBy((value) => knownName(what, value) as Name, description)

export const TaskIdInput = knownBy<TaskId>('task id', 'The id of a task.')
export const ActionNameInput = knownBy<ActionName>('action name', 'The name of an action.')
export const PoolNameInput = knownBy<PoolName>('pool name', 'The name of a pool.')
export const TenantIdInput = knownBy<TenantId>('tenant', 'A tenant.')
export const WorkerIdInput = knownBy<WorkerId>('worker id', 'The id of a worker.')
export const NameInput = knownBy<string>('name', 'A name of one line.')

/** Names that are given to something. */
export const NewTaskId = checkedBy(taskId, 'The id of a task.')
export const NewActionName = checkedBy(actionName, 'The name of an action.')
export const NewPoolName = checkedBy(poolName, 'The name of a pool.')
export const NewTenantId = checkedBy(tenantId, 'A tenant.')
export const NewWorkerId = checkedBy(workerId, 'The id of a worker.')
export const NewName = checkedBy((value) => checkedName('name', value), 'A name of one line, all of it to be seen.')

const REASON_LENGTH_MAX = 1_000
export const ReasonInput = checkedBy(
  (value) => checkedText('reason', value, REASON_LENGTH_MAX),
  'Why, for the journal.',
  Number.POSITIVE_INFINITY,
)

/** Milliseconds since 1970, by the clock of the store. */
export const Moment = z.int().meta({ id: 'Moment', description: 'Milliseconds since 1970-01-01 UTC.' })
export const Milliseconds = z.int().min(0).meta({ description: 'A time span in milliseconds.' })
const isDigits = (value: unknown): boolean => typeof value === 'string' && /^\d{1,15}$/.test(value)

export const DurationInput = z
  .preprocess(
    (value) => (isDigits(value) ? Number(value) : value),
    z.union([z.int().min(0), z.string().min(1).max(40)]),
  )
  .meta({ id: 'Duration', description: "A time span: milliseconds, or a text such as '90s', '5m' or '2h'." })

/** Anything that JSON can say. */
export const JsonValue = z.unknown().meta({ description: 'Any JSON value.' })

/** A whole number in a path or a query: decimal digits and nothing else. */
export const digitsInput = (min: number, max: number = Number.MAX_SAFE_INTEGER) =>
  z.preprocess((value) => (isDigits(value) ? Number(value) : value), z.int().min(min).max(max))

/** A place in a search names every tenant that it looks through. More does not fit into the head of a request. */
const CURSOR_LENGTH_MAX = 12_000

export const CursorInput = z.string().max(CURSOR_LENGTH_MAX)

export const PageQuery = z.object({
  limit: digitsInput(1, PAGE_LIMIT_MAX).optional().meta({ description: 'At most this many.' }),
  cursor: CursorInput.optional().meta({ description: '`next` of the page before.' }),
})

export const QueryInput = z.object({
  q: z.string().max(1_000).optional().meta({
    description: 'The query language: `status:dead action:invoice.* age>1h "connection reset"`.',
  }),
})

/** A switch in a query, where everything is text, or in a body. */
export const flagInput = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean(),
)

/** A list that nobody changes. */
export const listOf = <T extends z.ZodType>(item: T) => z.array(item) as unknown as z.ZodReadonly<z.ZodArray<T>>

export const pageOf = <T extends z.ZodType>(item: T, id: string) =>
  z
    .object({
      items: listOf(item),
      next: z.string().nullable().meta({ description: 'For the next page; null on the last one.' }),
    })
    .meta({ id })

/** Beside lists that an orchestrator fills: an empty one says nothing if nobody looks. */
export const WatchedAt = Moment.nullable().meta({
  description: 'When an orchestrator last looked; null if none ever did. Without one nothing comes onto the list.',
})

/** A list that always comes whole has the shape of a page, too. */
export const wholePage = <T>(items: readonly T[]): { readonly items: readonly T[]; readonly next: null } => ({
  items,
  next: null,
})

export const TaskParams = z.object({ id: TaskIdInput })

/** One lane, or all lanes that agree with what is given. */
export const ScopeInput = z.object({
  pool: PoolNameInput.optional(),
  action: ActionNameInput.optional(),
  tenant: TenantIdInput.optional(),
})
