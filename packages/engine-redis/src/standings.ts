// Where tasks stand when a failure of theirs is judged: what was asked and what was used up, without the payloads.

import type { JsonText, StandingsResult, TaskId } from '@reprise/core'
import { checkBatch } from '@reprise/core/engine'
import { asTexts, type Partition } from './partition.ts'
import { FRESH, parseState, parseText, snapshotOf, spentOf } from './records.ts'
import { standingsScript } from './scripts.generated.ts'

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

/** Asks the store as other verbs do: a server that only tells the time, but serves nothing, does not answer. */
export async function storeTime(partition: Partition): Promise<number> {
  return (await standings(partition, [])).now
}
