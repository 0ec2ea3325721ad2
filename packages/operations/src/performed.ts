// Runs an operation, and tells the journal of it if an operator changed something by it: who, what, why, under which request, and
// where it is known, what was there before and after. The change has its own entry, written in the same step as the change; this
// one ties it to the request. A change that is refused, or fails, is not told.

import type { Caller } from './access/caller.ts'
import { byOf } from './access/caller.ts'
import type { Context } from './context.ts'
import type { AnyOneAnswer } from './operation.ts'

/** Rights of operators. Submissions and the work of workers are told where they are unusual, by the store. */
const OPERATORS: ReadonlySet<string> = new Set(['operate', 'configure', 'tokens'])
const TEXT_LENGTH_MAX = 1_000
const VALUE_LENGTH_MAX = 200
/** Never told: texts of people stand in the entry of the change, secrets and addresses nowhere. */
const UNTOLD: ReadonlySet<string> = new Set([
  'reason',
  'text',
  'result',
  'url',
  'secret',
  'token',
  'patch',
  'description',
])

export interface Asked {
  readonly name: string
  readonly entry: AnyOneAnswer
  readonly input: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** As the answer and the log name it. */
  readonly request: string
}

export async function performed(context: Context, caller: Caller, asked: Asked): Promise<unknown> {
  const { entry, input, signal } = asked
  if (!isTold(entry) || input.dryRun === true) return entry.run(context, caller, input, signal)
  const look = async (): Promise<string | null> => {
    if (entry.audit === undefined || entry.audit === false) return null
    // A look that fails holds up no change.
    return entry.audit(context, caller, input).then(shown, () => null)
  }
  const before = await look()
  const result = await entry.run(context, caller, input, signal)
  try {
    await tell(context, caller, asked, before, await look())
  } catch (error) {
    // The change is made, and its own entry says who made it.
    context.log.error(`${asked.name} is done, and its record for the audit could not be written.`, { error })
  }
  return result
}

const isTold = ({ route, right, audit }: AnyOneAnswer): boolean =>
  audit !== false && OPERATORS.has(right) && !route.startsWith('GET ')

async function tell(
  { engine }: Context,
  caller: Caller,
  { name, input, request }: Asked,
  before: string | null,
  after: string | null,
): Promise<void> {
  const given = typeof input.reason === 'string' ? input.reason : undefined
  const { actor, reason } = byOf(caller, given)
  const looks = before === null && after === null ? {} : { before, after }
  const data = { operation: name, request, input: shown(told(input)), ...looks }
  await engine.journal.append([{ type: 'operation.performed', taskId: null, attempt: null, actor, reason, data }])
}

/** What it was asked for, without what may be long or secret. */
function told(input: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(input).flatMap(([key, value]): [string, unknown][] => {
      if (UNTOLD.has(key) || value === undefined) return []
      if (Array.isArray(value)) return [[key, `${value.length} of them`]]
      if (typeof value === 'string') return [[key, value.slice(0, VALUE_LENGTH_MAX)]]
      return typeof value === 'number' || typeof value === 'boolean' || value === null ? [[key, value]] : []
    }),
  )
}

const shown = (value: unknown): string =>
  JSON.stringify(value ?? null)
    .slice(0, TEXT_LENGTH_MAX)
    .toWellFormed()
