// The one way to the server: the client made from the table of operations, with the session of this browser. Its address is
// this page's own, so that no request leaves the origin.

import {
  type Client,
  createHttpClient,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from '@reprise/client/http'
import { isRepriseError } from '@reprise/core'
import { fetchAndTell } from './answering.ts'

export const api: Client = createHttpClient({ url: window.location.origin, timeout: '20s', fetch: fetchAndTell })

export type { OperationInput, OperationName, OperationOutput }

type Callable = (input: object, options: { readonly signal?: AbortSignal }) => Promise<unknown>

/** Calls an operation by its name, with the types that the table gives it. */
export async function call<Name extends OperationName>(
  name: Name,
  input: OperationInput<Name>,
  signal?: AbortSignal,
): Promise<OperationOutput<Name>> {
  const callable = api[name] as unknown as Callable
  return (await callable(withoutGaps(input), signal === undefined ? {} : { signal })) as OperationOutput<Name>
}

/** A field without a value is left out: the client refuses one that is there and undefined. */
const withoutGaps = (input: object): object =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))

export const isSignedOut = (error: unknown): boolean => isRepriseError(error, 'REPRISE_UNAUTHENTICATED')
export const isForbidden = (error: unknown): boolean => isRepriseError(error, 'REPRISE_FORBIDDEN')
export const isNotFound = (error: unknown): boolean => isRepriseError(error, 'REPRISE_NOT_FOUND')
/** What was asked is wrong: asking again changes nothing. */
export const isRefused = (error: unknown): boolean => isRepriseError(error, 'REPRISE_INVALID')
