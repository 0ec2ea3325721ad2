// The typed caller: a function for each operation of the table. Their names, and where each is found over HTTP, are generated
// from the table (routes.generated.ts), so that no schema library comes along.

import { InvalidError } from '@reprise/core'
import type { CallOptions, OperationName, Operations } from '@reprise/operations'
import type { Backend } from './backend.ts'
import { ROUTES } from './routes.generated.ts'

export function callsOf(backend: Backend): Operations {
  const calls = Object.entries(ROUTES).map(([name, route]) => {
    const operation = name as OperationName
    const lines = (input: object = {}, { signal }: CallOptions = {}) => backend.lines(operation, checked(input), signal)
    const call = async (input: object = {}, { signal }: CallOptions = {}) =>
      backend.call(operation, checked(input), signal)
    return [name, route.endsWith(' stream') ? lines : call]
  })
  // One function for each name: the table gives their types.
  return Object.fromEntries(calls) as Operations
}

/** A variable that happens to be undefined must not turn 'this tenant' into 'every tenant'. */
function checked(input: object): object {
  if (typeof input !== 'object' || input === null) {
    throw new InvalidError(`An operation takes its input as one object, not ${input === null ? 'null' : typeof input}.`)
  }
  for (const [field, value] of Object.entries(input)) {
    if (value === undefined) throw new InvalidError(`The field '${field}' is undefined. Leave it out to mean all.`)
  }
  return input
}

/** Calls again with `next` until nothing is left: all pages of a list, or all steps of a change. */
export async function* pages<Input extends object | undefined, Page extends { readonly next: string | null }>(
  call: (input: Input, options?: CallOptions) => Promise<Page>,
  input: NoInfer<NonNullable<Input>>,
  options?: CallOptions,
): AsyncGenerator<Page> {
  let next: string | null = null
  do {
    const page: Page = await call(next === null ? input : { ...input, cursor: next }, options)
    yield page
    next = page.next
  } while (next !== null)
}
