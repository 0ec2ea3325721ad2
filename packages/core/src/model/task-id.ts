// Ids of tasks that were given none: UUIDs of version 7, which sort by time and so keep a store's index compact.

import { type Clock, systemClock } from '../runtime/clock.ts'
import type { TaskId } from './ids.ts'

/** 48 bits of time, then what a random UUID (version 4) has in the other places. */
export function drawTaskId(clock: Clock = systemClock): TaskId {
  const time = clock.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}` as TaskId
}
