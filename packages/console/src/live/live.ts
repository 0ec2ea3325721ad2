// What happens, as it happens: one stream of events for the whole page, opened again by the client whenever it breaks, from where
// it was. However many come, what is shown is asked for again once a second at the most, and not while the last answer is still
// under way. When more come than anybody reads, the stream is let go and opened again a second later, from then on: what happened
// meanwhile is in the answers. Says when it is behind, and when there is no connection.

import type { LiveEvent } from '@reprise/client/http'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { api, isSignedOut } from '../api/client.ts'
import { queries } from '../api/operations.ts'
import { later, storeNow } from '../time.ts'

export type LiveState = 'connecting' | 'live' | 'busy' | 'behind' | 'off'

const REFRESH_MS = 1_000
const BEHIND_MS = 10_000
const AGAIN_MS = 5_000
/** More in a second are not read one by one. */
const BUSY_EVENTS = 300

const watchers = new Set<(event: LiveEvent) => void>()
const listeners = new Set<() => void>()
let state: LiveState = 'connecting'
let isStarted = false
let refreshIn: (() => void) | null = null

function become(next: LiveState): void {
  if (next === state) return
  state = next
  for (const listener of listeners) listener()
}

/** Starts once; goes on for as long as the page is open. */
export function startLive(): void {
  if (isStarted) return
  isStarted = true
  void follow()
  // After sleep, or on the way back to this tab, what is shown is old.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') refreshSoon()
  })
  window.addEventListener('online', refreshSoon)
  window.addEventListener('offline', () => become('off'))
}

async function follow(): Promise<void> {
  let againMs = AGAIN_MS
  try {
    const rate = new Rate()
    const events = api.watch({
      onConnection: (stands) => {
        // The stream says nothing until something happens; that it was opened is good enough.
        if (!stands) become('off')
        else if (state !== 'busy') become('live')
        // What happened while it was away is in the answers.
        if (stands) refreshSoon()
      },
    })
    for await (const event of events) {
      for (const watcher of watchers) watcher(event)
      refreshSoon()
      if (rate.isAbove(BUSY_EVENTS, storeNow())) {
        become('busy')
        againMs = REFRESH_MS
        break
      }
      if (rate.isKnown) become(storeNow() - Date.parse(event.time) > BEHIND_MS ? 'behind' : 'live')
    }
  } catch (error) {
    become('off')
    if (isSignedOut(error)) void queries.invalidateQueries({ queryKey: ['me'] })
  }
  later(againMs, () => void follow())
}

/** How many came in the second that runs. */
class Rate {
  #since = Number.NEGATIVE_INFINITY
  #count = 0
  /** Whether one second has passed without too many. */
  isKnown = state !== 'busy'

  isAbove(max: number, now: number): boolean {
    if (now - this.#since >= REFRESH_MS) {
      this.isKnown ||= this.#count > 0
      this.#since = now
      this.#count = 0
    }
    this.#count++
    return this.#count > max
  }
}

function refreshSoon(): void {
  if (refreshIn !== null || document.visibilityState === 'hidden') return
  refreshIn = later(REFRESH_MS, () => {
    refreshIn = null
    void queries.invalidateQueries(
      {
        type: 'active',
        predicate: ({ meta, state: { fetchStatus } }) => meta?.['live'] === true && fetchStatus === 'idle',
      },
      { cancelRefetch: false },
    )
  })
}

export const useLiveState = (): LiveState =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => state,
  )

/** Calls with each event for as long as the component is shown; in a storm of events not with all of them. */
export function useEvents(hear: (event: LiveEvent) => void): void {
  const latest = useRef(hear)
  latest.current = hear
  useEffect(() => {
    const watcher = (event: LiveEvent): void => latest.current(event)
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  }, [])
}
