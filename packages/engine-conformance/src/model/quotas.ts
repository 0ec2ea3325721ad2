// Retry quotas: how a decision to retry gets its place in a window that has room. What a window has is kept by its
// number; what is past is never asked for again.

import { type RetryQuota, SERIES_STEP_MS } from '@reprise/core'
import { quotaKey, quotaPlace, quotaRoom } from '@reprise/core/engine'
import type { Lane, State, TaskRecord } from './state.ts'

/** When a retry that is wanted then may run, and the quota that moved it; null if none did. */
export function placeRetry(
  state: State,
  task: TaskRecord,
  wantedAt: number,
  quota: RetryQuota | undefined,
): { readonly dueAt: number; readonly quota: string | null } {
  if (quota === undefined) return { dueAt: wantedAt, quota: null }
  const { name, windowMs } = quota
  const key = quotaKey(quota, task.lane.tenant)
  const taken = state.quotas.get(key) ?? new Map<number, number>()
  state.quotas.set(key, taken)
  const started = startedLately(state, task.lane)
  const hasRoom = (number: number): boolean => (taken.get(number) ?? 0) < quotaRoom(quota, started, number)
  const { window, dueAt } = quotaPlace(wantedAt, windowMs, hasRoom)
  taken.set(window, (taken.get(window) ?? 0) + 1)
  return { dueAt, quota: dueAt > wantedAt ? name : null }
}

/** Attempts that started in a lane in this minute or in the one before, whichever had more. */
function startedLately(state: State, lane: Lane): number {
  const thisMinute = Math.floor(state.now / SERIES_STEP_MS) * SERIES_STEP_MS
  const started = (minute: number): number =>
    state.events.filter((event) => event.kind === 'started' && event.lane === lane && event.minute === minute).length
  return Math.max(started(thisMinute), started(thisMinute - SERIES_STEP_MS))
}
