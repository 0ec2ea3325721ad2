// Retry quotas: how a decision to retry gets its place in a window that has room. What a window has is kept by its
// number; what is past is never asked for again.

import { type RetryQuota, SERIES_STEP_MS } from '@reprise/core'
import { quotaPlace, quotaRoom } from '@reprise/core/engine'
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
  const taken = state.quotas.get(name) ?? new Map<number, number>()
  state.quotas.set(name, taken)
  const room = quotaRoom(quota, startedLately(state, task.lane))
  const { window, dueAt } = quotaPlace(wantedAt, windowMs, room, (number) => taken.get(number) ?? 0)
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
