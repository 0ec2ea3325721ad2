// Operations in components. `useOperation` asks and keeps asking: what it shows stays while news comes, and events of the live
// stream bring it up to date. `useChange` does something and brings up to date what is shown.

import {
  QueryClient,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import {
  call,
  isForbidden,
  isNotFound,
  isRefused,
  isSignedOut,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from './client.ts'

/** What nobody tells us of, such as tasks that succeed, is asked for as often. */
const EVERY_MS = 5_000

const isFinal = (error: unknown): boolean =>
  isSignedOut(error) || isForbidden(error) || isNotFound(error) || isRefused(error)

export const queries: QueryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1_000,
      gcTime: 60_000,
      // The client has asked again already, as long as its timeout lets it.
      retry: false,
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

/** Lists that come in pages. */
type ListName = {
  [Name in OperationName]: OperationOutput<Name> extends {
    readonly items: readonly unknown[]
    readonly next: string | null
  }
    ? Name
    : never
}[OperationName]

type ItemOf<Name extends ListName> =
  OperationOutput<Name> extends { readonly items: readonly (infer Item)[] } ? Item : never

/** From this many pages on, only what is asked for is read: all of them again and again would be too much. */
const LIVE_PAGES_MAX = 3

export interface Listed<Item> {
  readonly items: readonly Item[] | undefined
  readonly error: unknown
  /** Reads on; null at the end, and while the last page is under way. */
  readonly more: (() => void) | null
  readonly hasMore: boolean
  /** How many pages were read. */
  readonly pages: number
  /** Whether these are the answer to an earlier question. */
  readonly isOld: boolean
}

/** All pages of a list, as far as they were asked for. */
export function useList<Name extends ListName>(
  name: Name,
  input: OperationInput<Name>,
  { enabled = true, everyMs = EVERY_MS }: AskOptions = {},
): Listed<ItemOf<Name>> {
  const asked = useInfiniteQuery({
    queryKey: [name, 'pages', input],
    queryFn: async ({
      signal,
      pageParam,
    }): Promise<{ readonly items: readonly unknown[]; readonly next: string | null }> => {
      const page = await call(
        name,
        { ...input, ...(pageParam === '' ? {} : { cursor: pageParam }) } as OperationInput<Name>,
        signal,
      )
      return page
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    enabled,
    refetchInterval: ({ state }) =>
      isFinal(state.error) || (state.data?.pages.length ?? 0) > LIVE_PAGES_MAX ? false : everyMs,
    meta: { live: true },
  })
  const { data, error, hasNextPage, isFetching, isPlaceholderData, fetchNextPage } = asked
  return {
    items: data?.pages.flatMap(({ items }) => items) as readonly ItemOf<Name>[] | undefined,
    error,
    hasMore: hasNextPage,
    pages: data?.pages.length ?? 0,
    more: hasNextPage && !isFetching ? () => void fetchNextPage() : null,
    isOld: isPlaceholderData,
  }
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
