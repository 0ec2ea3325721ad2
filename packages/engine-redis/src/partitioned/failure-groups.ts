// Failure groups over all partitions: dead letters with one cause may lie in each of them. A group is listed where its last
// death was, with the counts of all.

import type { FailureGroup, FailureGroupQuery, Page } from '@reprise/core'
import { pageLimit } from '@reprise/core/engine'
import { type GroupRow, groupRows } from '../failure-groups.ts'
import { asTexts } from '../partition.ts'
import { merge, split } from './merge.ts'
import type { Partitions } from './partitions.ts'

const START = '-'

export async function listFailureGroups(store: Partitions, query: FailureGroupQuery = {}): Promise<Page<FailureGroup>> {
  const limit = pageLimit(query)
  let cursors = split(query.cursor, START, /^\d{1,15}\.\d{1,15}$/, store.size)
  const groups: FailureGroup[] = []
  for (;;) {
    const page = await merge<GroupRow>(
      cursors,
      limit - groups.length,
      async (cursor, wanted, place) => {
        const rows = await groupRows(store.at(place), cursor === START ? undefined : cursor, wanted, query)
        return rows.map((item) => ({ item, cursor: item.cursor }))
      },
      (a, b) => a.group.lastAt > b.group.lastAt,
    )
    groups.push(...(await whole(store, page.rows)))
    if (!page.hasMore) return { items: groups, next: null }
    if (groups.length === limit) return { items: groups, next: page.cursor }
    cursors = split(page.cursor, START, /./, store.size)
  }
}

/** What one partition has of a group. */
interface Part {
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

/** The groups of these rows, each once: where the last of its dead letters lies, the first of such partitions. */
async function whole(
  store: Partitions,
  rows: readonly { readonly item: GroupRow; readonly place: number }[],
): Promise<FailureGroup[]> {
  if (rows.length === 0) return []
  const parts = await store.each(async (partition) => {
    const replies = await partition.pipeline(
      rows.flatMap(({ item: { group } }) => [
        ['ZCARD', partition.key(`dead:${group.fingerprint}`)],
        ['HMGET', partition.key(`group:${group.fingerprint}`), 'firstAt', 'lastAt'],
      ]),
    )
    return rows.map((_, index): Part => {
      const [firstAt = '', lastAt = ''] = asTexts(replies[index * 2 + 1])
      return { count: Number(replies[index * 2]), firstAt: Number(firstAt), lastAt: Number(lastAt) }
    })
  })
  return rows.flatMap(({ item: { group }, place }, index) => {
    const all = parts.map((list) => list[index] ?? { count: 0, firstAt: 0, lastAt: 0 })
    const isElsewhere = all.some(({ count, lastAt }, other) => {
      return other !== place && count > 0 && (lastAt > group.lastAt || (lastAt === group.lastAt && other < place))
    })
    if (isElsewhere) return []
    const known = all.filter(({ firstAt }) => firstAt > 0)
    return [
      {
        ...group,
        count: all.reduce((sum, { count }) => sum + count, 0),
        firstAt: Math.min(...known.map(({ firstAt }) => firstAt)),
      },
    ]
  })
}
