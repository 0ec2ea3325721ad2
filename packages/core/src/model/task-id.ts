// Ids of tasks that were given none: UUIDs of version 7, which sort by time and so keep a store's index compact.

import { type Clock, systemClock } from '../runtime/clock.ts'
import type { TaskId } from './ids.ts'

/** What ids of one millisecond begin with: many are drawn in each. */
let head = ''
let headTime = -1

/** 48 bits of time, then what a random UUID (version 4) has in the other places. */
export function drawTaskId(clock: Clock = systemClock): TaskId {
  const time = clock.now()
  if (time !== headTime) {
    head = `${time.toString(16).padStart(12, '0').replace(/.{8}/, '$&-')}-7`
    headTime = time
  }
  return (head + crypto.randomUUID().slice(15)) as TaskId
}
