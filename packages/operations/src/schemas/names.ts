// The smallest schemas: names, times, pages. Names are checked by core's own functions, so that a name is refused for the
// same reasons and in the same words wherever it comes in.

import {
  actionName,
  checkedName,
  checkedText,
  isRepriseError,
  PAGE_LIMIT_MAX,
  poolName,
  taskId,
  tenantId,
  workerId,
} from '@reprise/core'
import { z } from 'zod'

/** A text that one of core's functions accepts, in the type that it gives. */
export function checkedBy<T>(check: (value: string) => T, description: string, lengthMax = 1_000) {
  return z
    .string()
    .max(lengthMax)
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

export const TaskIdInput = checkedBy(taskId, 'The id of a task.')
export const ActionNameInput = checkedBy(actionName, 'The name of an action.')
export const PoolNameInput = checkedBy(poolName, 'The name of a pool.')
export const TenantIdInput = checkedBy(tenantId, 'A tenant.')
export const WorkerIdInput = checkedBy(workerId, 'The id of a worker.')
export const NameInput = checkedBy((value) => checkedName('name', value), 'A name of one line.')

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

export const PageQuery = z.object({
  limit: digitsInput(1, PAGE_LIMIT_MAX).optional().meta({ description: 'At most this many.' }),
  cursor: z.string().max(CURSOR_LENGTH_MAX).optional().meta({ description: '`next` of the page before.' }),
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

export const TaskParams = z.object({ id: TaskIdInput })

/** One lane, or all lanes that agree with what is given. */
export const ScopeInput = z.object({
  pool: PoolNameInput.optional(),
  action: ActionNameInput.optional(),
  tenant: TenantIdInput.optional(),
})
