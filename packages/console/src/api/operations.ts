// Operations in components. `useOperation` asks and keeps asking: what it shows stays while news comes, and events of the live
// stream bring it up to date. `useChange` does something and brings up to date what is shown.

import { QueryClient, type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  call,
  isForbidden,
  isNotFound,
  isSignedOut,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from './client.ts'

/** What nobody tells us of, such as tasks that succeed, is asked for as often. */
const EVERY_MS = 5_000
const REPEATS_MAX = 2

const isFinal = (error: unknown): boolean => isSignedOut(error) || isForbidden(error) || isNotFound(error)

export const queries: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      gcTime: 60_000,
      retry: (failures, error) => !isFinal(error) && failures < REPEATS_MAX,
      // What was shown for other filters stays until the new answer is there.
      placeholderData: (previous: unknown) => previous,
    },
  },
})

export interface AskOptions {
  /** False to not ask yet. */
  readonly enabled?: boolean
  /** How often it is asked again; 5 s if missing, false for never. */
  readonly everyMs?: number | false
  /** Whether the live stream brings it up to date at once; true if missing. */
  readonly live?: boolean
  /** Whether the answer to another input may stand in until this one is there; true if missing. */
  readonly keepsPrevious?: boolean
}

export function useOperation<Name extends OperationName>(
  name: Name,
  input: OperationInput<Name>,
  { enabled = true, everyMs = EVERY_MS, live = true, keepsPrevious = true }: AskOptions = {},
): UseQueryResult<OperationOutput<Name>> {
  return useQuery({
    queryKey: [name, input],
    queryFn: async ({ signal }): Promise<unknown> => call(name, input, signal),
    enabled,
    refetchInterval: (query) => (isFinal(query.state.error) ? false : everyMs),
    meta: { live },
    ...(keepsPrevious ? {} : { placeholderData: () => undefined }),
    // The key has the name of the operation, whose answer this is.
  }) as UseQueryResult<OperationOutput<Name>>
}

/** Does something. Everything that is shown is asked for again when it is done. */
export function useChange<Name extends OperationName>(name: Name) {
  const client = useQueryClient()
  return useMutation<OperationOutput<Name>, Error, OperationInput<Name>>({
    mutationFn: (input) => call(name, input),
    onSettled: () => client.invalidateQueries(),
  })
}

/** Brings up to date what is on the screen. */
export const refresh = (): Promise<void> => queries.invalidateQueries({ type: 'active' })
