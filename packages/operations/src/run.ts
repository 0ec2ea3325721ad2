// Performs an operation for a caller: may they, is it about tenants that are not theirs, is the input right, then its function.
// A server makes the same checks in the same order, the first two before it reads a body.

import { randomUUID } from 'node:crypto'
import { newNameOf, RequestError } from '@reprise/core'
import type { z } from 'zod'
import { authorise, type Caller, wholeStore } from './access/caller.ts'
import type { Context } from './context.ts'
import { type Operation, Written } from './operation.ts'
import { performed } from './performed.ts'

export interface InputProblem {
  /** Where in the input: `body.settings.timeout`. */
  readonly path: string
  readonly message: string
}

const PROBLEMS_MAX = 20

/** An input that its schema refuses. */
export class InputError extends RequestError {
  readonly problems: readonly InputProblem[]

  constructor(problems: readonly InputProblem[]) {
    const [first] = problems
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
    const what = first === undefined ? 'It does not fit its schema.' : `${first.path}: ${first.message}${more}`
    super('REPRISE_INVALID', `The request is not valid. ${what}`)
    this.problems = problems
  }
}

/** The input as its schema has it. `placeOf` says where a field stands in the request. */
export function parsedInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  placeOf: (field: string | undefined) => string = () => 'input',
): z.output<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw new InputError(
    result.error.issues.slice(0, PROBLEMS_MAX).map((issue) => ({
      path: [placeOf(issue.path[0]?.toString()), ...issue.path.map(String)].join('.').slice(0, 200),
      message: messageOf(issue).slice(0, 500),
    })),
  )
}

/** What is wrong with the name of a field is said by the schema of names, and an old name is answered by the new one. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message
  if (issue.code !== 'unrecognized_keys') return issue.message
  const hints = issue.keys.map((key) => newNameOf(key)).join('')
  return hints === '' ? issue.message : `${issue.message}.${hints}`
}

/** The answer of an operation that a local caller asks for. */
export async function perform(
  context: Context,
  caller: Caller,
  [name, entry]: readonly [string, Operation],
  input: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  authorise(caller, entry.right, name)
  if (entry.tenants === 'all') wholeStore(caller)
  const parsed = parsedInput(entry.input, input ?? {})
  if ('lines' in entry) return entry.lines(context, caller, parsed, signal)
  const result = await performed(context, caller, { name, entry, input: parsed, signal, request: randomUUID() })
  return result instanceof Written ? (JSON.parse(result.text) as unknown) : result
}
