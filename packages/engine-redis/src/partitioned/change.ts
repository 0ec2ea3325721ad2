// What operators do to many tasks, over all partitions: named ones in the order given, the others partition after partition.
// Each step is atomic in its partition; where a later one fails, what was changed before is answered with a cursor.

import { BATCH_MAX, type ChangeRequest, type ChangeResult, type TaskId, type TaskSelector } from '@reprise/core'
import { checkChange, checkLimit, pageCursor } from '@reprise/core/engine'
import { change } from '../change.ts'
import { placeAndPosition, wholeCursor } from './merge.ts'
import type { Partitions } from './partitions.ts'

/** How often one call goes on looking while it finds nothing to change. */
const ROUNDS_MAX = 50

export function changeAll(store: Partitions, request: ChangeRequest): Promise<ChangeResult> {
  const limit = request.limit ?? BATCH_MAX
  checkLimit(limit)
  checkChange(request)
  const after = pageCursor(request)
  const { select } = request
  if (!('ids' in select)) return overPartitions(store, request, limit, after)
  return overIds(store, { ...request, select }, limit, after ?? 0)
}

async function overIds(
  store: Partitions,
  request: ChangeRequest & { readonly select: Extract<TaskSelector, { readonly ids: readonly TaskId[] }> },
  limit: number,
  after: number,
): Promise<ChangeResult> {
  const { kind, by, select } = request
  const changed: TaskId[] = []
  let position = after
  for (let round = 0; round < ROUNDS_MAX && position < select.ids.length && changed.length < limit; round++) {
    // No more than may be changed: all of these can be looked at.
    const ids = select.ids.slice(position, position + limit - changed.length)
    const from = position
    try {
      const parts = store.split(ids, (id) => id)
      const found = new Set<number>()
      await Promise.all(
        parts.map(async ({ partition, items, positions }) => {
          const { generations } = select
          const fence =
            generations === undefined ? {} : { generations: positions.map((at) => generations[from + at] ?? 0) }
          const part = await change(partition, { kind, by, select: { ids: items, ...fence } })
          let at = 0
          for (const [index, id] of items.entries()) {
            if (part.changed[at] !== id) continue
            at++
            found.add(positions[index] ?? 0)
          }
        }),
      )
      changed.push(...ids.filter((_, index) => found.has(index)))
    } catch (error) {
      if (changed.length === 0) throw error
      break
    }
    position += ids.length
  }
  return { changed, next: position < select.ids.length ? String(position) : null }
}

async function overPartitions(
  store: Partitions,
  { kind, by, select }: ChangeRequest,
  limit: number,
  after: number | null,
): Promise<ChangeResult> {
  const changed: TaskId[] = []
  let { place, position } = placeAndPosition(after, store.size)
  while (place < store.size && changed.length < limit) {
    try {
      const cursor = position === 0 ? {} : { cursor: String(position) }
      const wanted = { kind, by, select, limit: limit - changed.length, ...cursor }
      const part = await change(store.at(place), wanted)
      changed.push(...part.changed)
      if (part.next !== null) return { changed, next: wholeCursor(place, Number(part.next), store.size) }
    } catch (error) {
      if (changed.length === 0) throw error
      break
    }
    place++
    position = 0
  }
  return { changed, next: place < store.size ? wholeCursor(place, position, store.size) : null }
}
