// Lanes, their counters and their events by the minute. Counters are kept, not counted; what spans many lanes is added up
// in steps, each of them short.

import {
  type ActionName,
  type Counts,
  type CountsQuery,
  InvalidError,
  type LaneQuery,
  type LaneView,
  type Page,
  type PoolName,
  type Scope,
  SERIES_POINTS_MAX,
  SERIES_STEP_MS,
  type SeriesPoint,
  type SeriesQuery,
  type TenantId,
} from '@reprise/core'
import { laneGates, pageCursor, pageLimit } from '@reprise/core/engine'
import { gatesFactsOf, NO_GATES } from './gates-facts.ts'
import { COUNTERS, LANE_ROW, MINUTE_ROW, recordOf, records, SERIES } from './layout.ts'
import { asTexts, type Partition } from './partition.ts'
import { countLanesScript, listLanesScript, seriesScript } from './scripts.generated.ts'
import { givenScope } from './tasks.ts'

/** By creation. */
export async function listLanes(partition: Partition, query: LaneQuery = {}): Promise<Page<LaneView>> {
  const limit = pageLimit(query)
  const rows = await laneRows(partition, pageCursor(query) ?? 0, limit + 1, query)
  const shown = rows.slice(0, limit)
  const facts = await gatesFactsOf(partition, shown)
  return {
    items: shown.map((row, index) => laneView(row, row.counts, facts[index])),
    next: rows.length > limit ? String(shown.at(-1)?.number) : null,
  }
}

export interface LaneRow {
  readonly number: number
  readonly pool: PoolName
  readonly action: ActionName
  readonly tenant: TenantId
  readonly counts: Counts
}

/** The next lanes of a scope, as many as are wanted, or all there are. */
export async function laneRows(
  partition: Partition,
  after: number,
  wanted: number,
  scope: Scope,
): Promise<readonly LaneRow[]> {
  const rows: LaneRow[] = []
  let goOnAt = String(after)
  do {
    const args = [goOnAt, String(wanted - rows.length), ...givenScope(scope)]
    const fields = asTexts(await partition.run(listLanesScript, args))
    for (const { number, pool, action, tenant, ...counters } of records(LANE_ROW, fields, 1)) {
      rows.push({
        number: Number(number),
        pool: pool as PoolName,
        action: action as ActionName,
        tenant: tenant as TenantId,
        counts: countsOf(counters),
      })
    }
    goOnAt = fields[0] ?? ''
  } while (goOnAt !== '' && rows.length < wanted)
  return rows
}

export function laneView({ pool, action, tenant }: LaneRow, counted: Counts, facts = NO_GATES): LaneView {
  return { pool, action, tenant, counts: counted, gates: laneGates(facts) }
}

export async function counts(partition: Partition, query: CountsQuery = {}): Promise<Counts> {
  const parts: Counts[] = []
  let after = '0'
  do {
    const [next = '', ...fields] = asTexts(await partition.run(countLanesScript, [after, ...givenScope(query)]))
    parts.push(countsOf(recordOf(COUNTERS, fields)))
    after = next
  } while (after !== '')
  return sumOf(parts)
}

type Counters = Readonly<Record<(typeof COUNTERS)[number], string>>

export function countsOf(counters: Counters): Counts {
  const counted = numbersOf(COUNTERS, (name) => Number(counters[name]))
  return { accepted: COUNTERS.reduce((sum, name) => sum + counted[name], 0), ...counted }
}

const COUNTS = ['accepted', ...COUNTERS] as const

export const sumOf = (parts: readonly Counts[]): Counts =>
  numbersOf(COUNTS, (name) => parts.reduce((sum, part) => sum + part[name], 0))

function numbersOf<Name extends string>(names: readonly Name[], of: (name: Name) => number): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, number>
}

/** Minutes with any event, oldest first. */
export async function series(partition: Partition, query: SeriesQuery): Promise<readonly SeriesPoint[]> {
  const { from, to } = query
  if (to - from > SERIES_POINTS_MAX * SERIES_STEP_MS) {
    throw new InvalidError(`A series has at most ${SERIES_POINTS_MAX} minutes.`)
  }
  if (!(from < to)) return []
  const points: SeriesPoint[] = []
  let place: readonly string[] = ['', '0']
  do {
    const fields = asTexts(
      await partition.run(seriesScript, [String(from), String(to), ...givenScope(query), ...place]),
    )
    place = fields.slice(0, 2)
    points.push(...records(MINUTE_ROW, fields, 2).map((row) => numbersOf(MINUTE_ROW, (name) => Number(row[name]))))
  } while (place[0] !== '')
  return byMinute(points)
}

/** One point for each minute, in the order in which they come. */
export function byMinute(points: readonly SeriesPoint[]): SeriesPoint[] {
  const minutes = Map.groupBy(points, ({ at }) => at)
  return [...minutes].map(([at, list]) => ({
    at,
    ...numbersOf(SERIES, (name) => list.reduce((sum, point) => sum + point[name], 0)),
  }))
}
