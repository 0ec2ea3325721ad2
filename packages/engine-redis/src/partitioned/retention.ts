// Retention over all partitions, one after the other, a bounded number per call. It also frees the dedupe keys, held in other
// partitions, of what was removed.

import { BATCH_MAX, type RetainResult, type RetentionRules } from '@reprise/core'
import { checkLimit, pageCursor } from '@reprise/core/engine'
import { retain } from '../retention.ts'
import type { Keys } from './keys.ts'
import { placeAndPosition, wholeCursor } from './merge.ts'
import type { Partitions } from './partitions.ts'

/** Partitions with little to remove are done in one call, up to this number. */
const PARTITIONS_PER_CALL = 16

export async function retainAll(
  store: Partitions,
  rules: RetentionRules,
  options: { readonly limit?: number; readonly cursor?: string } | undefined,
  keys: Keys,
): Promise<RetainResult> {
  const limit = options?.limit ?? BATCH_MAX
  checkLimit(limit)
  let { place, position } = placeAndPosition(pageCursor(options), store.size)
  let tasksRemoved = 0
  let entriesRemoved = 0
  for (let visits = 0; place < store.size && visits < PARTITIONS_PER_CALL; visits++) {
    const part = await retain(store.at(place), rules, { limit, cursor: String(position) })
    await keys.freeRemoved(place)
    tasksRemoved += part.tasksRemoved
    entriesRemoved += part.entriesRemoved
    if (part.next !== null) {
      return { tasksRemoved, entriesRemoved, next: wholeCursor(place, Number(part.next), store.size) }
    }
    place++
    position = 0
    if (tasksRemoved >= limit || entriesRemoved >= limit) break
  }
  return { tasksRemoved, entriesRemoved, next: place < store.size ? wholeCursor(place, position, store.size) : null }
}
