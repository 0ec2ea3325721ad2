// Stores of layouts before 4 keep dedupe keys by tenant alone, in the hashes 'keys'. Opening one moves each key to where layout 4
// looks for it: the action is that of the task that has the key. Safe to do again, and by two processes at once: a key is written
// before the old one is deleted, and never over another. A key under whose ticket no task was accepted is dropped.

import { asList, asTexts, type Partition } from '../partition.ts'
import { parseText } from '../records.ts'
import { parseHolder } from './keys.ts'
import type { Partitions } from './partitions.ts'

const PAGE = 500

export async function moveOldKeys(store: Partitions): Promise<void> {
  for (const partition of store.all) {
    let cursor = '0'
    do {
      const reply = await partition.command('HSCAN', partition.key('keys'), cursor, 'COUNT', String(PAGE))
      const [next, page] = asList(reply)
      const texts = asTexts(page)
      const keys = texts.flatMap((name, at) => (at % 2 === 0 ? [{ name, holder: texts[at + 1] ?? '' }] : []))
      await movePage(store, partition, keys)
      cursor = String(next)
    } while (cursor !== '0')
  }
}

interface OldKey {
  readonly name: string
  readonly holder: string
}

async function movePage(store: Partitions, from: Partition, keys: readonly OldKey[]): Promise<void> {
  if (keys.length === 0) return
  const idOf = ({ holder }: OldKey): string => (store.size === 1 ? holder : parseHolder(holder).id)
  const actions = await store.inOrder(keys, idOf, async ({ partition, items }) => {
    const texts = await partition.pipeline(items.map((key) => ['HGET', partition.taskKey(idOf(key)), 'task']))
    const lanes = texts.map((text) => (typeof text === 'string' ? parseText(text).head.lane : 0))
    const found = await partition.pipeline(lanes.map((lane) => ['HGET', partition.key(`lane:${lane}`), 'action']))
    return found.map((action) => (typeof action === 'string' ? action : null))
  })
  const moved = keys.flatMap(({ name, holder }, index) => {
    const action = actions[index] ?? null
    const [tenant, ...key] = name.split('\n')
    return action === null ? [] : [{ name: `${tenant}\n${action}\n${key.join('\n')}`, holder }]
  })
  await store.inOrder(
    moved,
    ({ name }) => name,
    ({ partition, items }) =>
      partition.pipeline(items.map(({ name, holder }) => ['HSETNX', partition.key('dedupe'), name, holder])),
  )
  await from.command('HDEL', from.key('keys'), ...keys.map(({ name }) => name))
}
