// Lanes and their counters over all partitions. A lane may have tasks in each of them; it is listed where it is first met,
// partition after partition, with what all have of it. A cursor says how far each partition was listed, up to the one
// that was begun last: a lane that came to be in an earlier one since is still shown once.

import type { Counts, CountsQuery, LaneQuery, LaneView, Page, SeriesPoint, SeriesQuery } from '@reprise/core'
import { foreignCursor, pageLimit } from '@reprise/core/engine'
import { byMinute, counts, countsOf, type LaneRow, laneRows, laneView, series, sumOf } from '../lanes.ts'
import { COUNTERS, recordOf } from '../layout.ts'
import { asTexts, type Partition, scopeName } from '../partition.ts'
import { findLanesScript } from '../scripts.generated.ts'
import { gatesFactsOf } from './gates.ts'
import type { Partitions } from './partitions.ts'

interface Listed {
  readonly row: LaneRow
  readonly counts: Counts
}

export async function listLanes(store: Partitions, query: LaneQuery = {}): Promise<Page<LaneView>> {
  const limit = pageLimit(query)
  const bounds = parseCursor(query.cursor, store.size)
  const listed: Listed[] = []
  let hasMore = false
  while (!hasMore) {
    const place = bounds.length - 1
    const wanted = limit - listed.length + 1
    const rows = await laneRows(store.at(place), bounds[place] ?? 0, wanted, query)
    const shown = rows.slice(0, wanted - 1)
    listed.push(...(await newOnes(store, shown, bounds)))
    bounds[place] = shown.at(-1)?.number ?? bounds[place] ?? 0
    if (rows.length === wanted) hasMore = listed.length === limit
    else if (bounds.length === store.size) break
    else bounds.push(0)
  }
  const facts = await gatesFactsOf(
    store,
    listed.map(({ row }) => row),
  )
  return {
    items: listed.map(({ row, counts: counted }, index) => laneView(row, counted, facts[index])),
    next: hasMore ? bounds.join('_') : null,
  }
}

function parseCursor(cursor: string | undefined, size: number): number[] {
  if (cursor === undefined) return [0]
  if (!/^\d{1,15}(?:_\d{1,15})*$/.test(cursor) || cursor.split('_').length > size) {
    throw foreignCursor()
  }
  return cursor.split('_').map(Number)
}

/** Those of a partition's lanes that no earlier partition listed, with the counters of all. */
async function newOnes(store: Partitions, rows: readonly LaneRow[], bounds: readonly number[]): Promise<Listed[]> {
  if (rows.length === 0) return []
  const names = rows.map(scopeName)
  const place = bounds.length - 1
  const elsewhere = await store.each(async (partition, other) => (other === place ? [] : findLanes(partition, names)))
  return rows.flatMap((row, index) => {
    const parts = elsewhere.map((found) => found[index] ?? null)
    const isListed = parts.some((part, other) => part !== null && other < place && part.number <= (bounds[other] ?? 0))
    if (isListed) return []
    return [{ row, counts: sumOf([row.counts, ...parts.flatMap((part) => part?.counts ?? [])]) }]
  })
}

interface Found {
  readonly number: number
  readonly counts: Counts
}

async function findLanes(partition: Partition, names: readonly string[]): Promise<readonly (Found | null)[]> {
  const fields = asTexts(await partition.run(findLanesScript, names))
  let at = 0
  return names.map(() => {
    const number = fields[at++] ?? ''
    if (number === '') return null
    at += COUNTERS.length
    return { number: Number(number), counts: countsOf(recordOf(COUNTERS, fields, at - COUNTERS.length)) }
  })
}

export async function countAll(store: Partitions, query: CountsQuery | undefined): Promise<Counts> {
  return sumOf(await store.each((partition) => counts(partition, query)))
}

export async function seriesOfAll(store: Partitions, query: SeriesQuery): Promise<readonly SeriesPoint[]> {
  const points = (await store.each((partition) => series(partition, query))).flat()
  return byMinute(points).toSorted((a, b) => a.at - b.at)
}
