// Where many tasks stand, in one trip: their statuses; and what a judgement of failures takes, which is what was asked and what
// was used up, without the payloads.

import type { JsonText, StandingsResult, TaskId, TaskStatus } from '@reprise/core'
import { checkBatch } from '@reprise/core/engine'
import { asTexts, type Partition } from './partition.ts'
import { FRESH, parseState, parseText, snapshotOf, spentOf } from './records.ts'
import { standingsScript, statusesScript } from './scripts.generated.ts'

export async function standings(partition: Partition, ids: readonly TaskId[]): Promise<StandingsResult> {
  checkBatch(ids.length)
  const fields: string[] = []
  let now: string | undefined
  do {
    const [time, ...found] = asTexts(await partition.run(standingsScript, ids.slice(fields.length / 2)))
    now = time
    fields.push(...found)
  } while (fields.length < 2 * ids.length)
  const heads = ids.map((_, index) => {
    const text = fields[2 * index] ?? ''
    return text === '' ? null : parseText(text).head
  })
  const names = await partition.learn(heads.filter((head) => head !== null))
  return {
    standings: ids.map((id, index) => {
      const head = heads[index] ?? null
      if (head === null) return null
      const { payload: _, ...snapshot } = snapshotOf(names, id, head, '' as JsonText)
      const state = fields[2 * index + 1] ?? ''
      return { snapshot, acceptedAt: head.acceptedAt, ...spentOf(state === '' ? FRESH : parseState(state)) }
    }),
    now: Number(now),
  }
}

export async function statuses(partition: Partition, ids: readonly TaskId[]): Promise<(TaskStatus | null)[]> {
  checkBatch(ids.length)
  const found: (TaskStatus | null)[] = []
  while (found.length < ids.length) {
    const texts = asTexts(await partition.run(statusesScript, ids.slice(found.length)))
    for (const text of texts) found.push(text === '' ? null : (text as TaskStatus))
  }
  return found
}

/** Asks the store as other verbs do: a server that only tells the time, but serves nothing, does not answer. */
export async function storeTime(partition: Partition): Promise<number> {
  return (await standings(partition, [])).now
}
