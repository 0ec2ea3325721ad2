// Who looks, and what they may do. A button that would be refused is not shown; the server refuses all the same.

import type { OperationOutput } from './client.ts'
import { useOperation } from './operations.ts'

export type Me = OperationOutput<'me'>
export type Scope = Me['scopes'][number]

const MINUTE_MS = 60_000

export const useMe = () => useOperation('me', {}, { everyMs: MINUTE_MS, live: false })

/** Whether the one who looks has this right; false until it is known. */
export function useMay(scope: Scope): boolean {
  return useMe().data?.scopes.includes(scope) ?? false
}

/** Whether the one who looks sees every tenant; false until it is known. */
export function useSeesAll(): boolean {
  const { data } = useMe()
  return data !== undefined && data.tenants === null
}
