// Where tasks stand, over several partitions: each is asked once, all at the same time.

import type { StandingsResult, TaskId, TaskStatus } from '@reprise/core'
import { checkBatch } from '@reprise/core/engine'
import { standings, statuses, storeTime } from '../standings.ts'
import type { Partitions } from './partitions.ts'

/** The time is the latest that a partition told: none of the tasks was accepted after it. */
export async function standingsIn(store: Partitions, ids: readonly TaskId[]): Promise<StandingsResult> {
  checkBatch(ids.length)
  let latest = 0
  const found = await store.inOrder(
    ids,
    (id) => id,
    async ({ partition, items }) => {
      const there = await standings(partition, items)
      latest = Math.max(latest, there.now)
      return there.standings
    },
  )
  return { standings: found, now: ids.length === 0 ? await storeTimeIn(store) : latest }
}

export async function statusesIn(store: Partitions, ids: readonly TaskId[]): Promise<(TaskStatus | null)[]> {
  checkBatch(ids.length)
  return store.inOrder(
    ids,
    (id) => id,
    ({ partition, items }) => statuses(partition, items),
  )
}

export async function storeTimeIn(store: Partitions): Promise<number> {
  return Math.max(...(await store.each(storeTime)))
}
