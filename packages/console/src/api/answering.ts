// Whether the server answers, by the last request that ended. The client asks again for a while before it gives up, so that this is
// known long before an error is.

import { useSyncExternalStore } from 'react'

/** What stands before the server says so while the server is away. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504])

let answers = true
const listeners = new Set<() => void>()

function become(next: boolean): void {
  if (next === answers) return
  answers = next
  for (const listener of listeners) listener()
}

/** Like `fetch`, and remembers how it went. */
export async function fetchAndTell(url: string | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init)
    become(!AWAY.has(response.status))
    return response
  } catch (error) {
    // What was cancelled here says nothing about the server.
    if (init?.signal?.aborted !== true) become(false)
    throw error
  }
}

export const useIsAnswering = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => answers,
  )
