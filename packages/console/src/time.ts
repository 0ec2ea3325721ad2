// Time as the store has it, since moments come from there and a laptop's clock may be wrong; and a tick for what counts along.

import { systemClock } from '@reprise/core'
import { useSyncExternalStore } from 'react'

const TICK_MS = 1_000

let aheadMs = 0
/** Told by the server. The way there and back is a small part of what people read off. */
export function setStoreTime(now: number): void {
  const ahead = now - systemClock.now()
  // Within two seconds it is the way there: numbers must not jump for that.
  aheadMs = Math.abs(ahead) < 2_000 ? 0 : ahead
}

export const storeNow = (): number => systemClock.now() + aheadMs

const listeners = new Set<() => void>()
let second = storeNow()

function tick(): void {
  second = storeNow()
  for (const listener of listeners) listener()
  if (listeners.size > 0) systemClock.after(TICK_MS, tick)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (listeners.size === 1) systemClock.after(TICK_MS, tick)
  return () => listeners.delete(listener)
}

/** Now, to the second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => second)

/** Calls back after a while; the answer takes it back. */
export function later(ms: number, then: () => void): () => void {
  const timer = systemClock.after(ms, then)
  return () => timer.cancel()
}
