// Lanes, their counters and their events by the minute. Counters are kept, not counted; what spans many lanes is added up
// in steps, each of them short.

import {
  type ActionName,
  type Counts,
  type CountsQuery,
  type Gate,
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
import { breakerGates, pageCursor, pageLimit } from '@reprise/core/engine'
import { type GatesFacts, gatesFactsOf, NO_GATES } from './gates-facts.ts'
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

const FIELDS_PER_LANE = 12

/** The next lanes of a scope, as many as are wanted if there are so many. */
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
    for (let at = 1; at < fields.length; at += FIELDS_PER_LANE) {
      const [number, pool = '', action = '', tenant = '', ...counters] = fields.slice(at, at + FIELDS_PER_LANE)
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

export function laneView({ pool, action, tenant }: LaneRow, counted: Counts, facts: GatesFacts | undefined): LaneView {
  return { pool, action, tenant, counts: counted, gates: gatesOf(facts) }
}

/** What holds a lane now: its pauses, its breakers, then its full limits. */
function gatesOf({ holds, limits, breakers }: GatesFacts = NO_GATES): Gate[] {
  return [
    ...holds.map((hold) => ({ kind: 'paused', ...hold }) as const),
    ...breakerGates(breakers),
    ...limits
      .filter(({ running, concurrency }) => running >= concurrency)
      .map((full) => ({ kind: 'concurrency', ...full }) as const),
  ]
}

export async function counts(partition: Partition, query: CountsQuery = {}): Promise<Counts> {
  let sums = countsOf([])
  let after = '0'
  do {
    const [next = '', ...fields] = asTexts(await partition.run(countLanesScript, [after, ...givenScope(query)]))
    sums = added(sums, countsOf(fields))
    after = next
  } while (after !== '')
  return sums
}

/** From the texts of a lane's counters, in the order of the scripts. */
export function countsOf(fields: readonly string[]): Counts {
  const [queued = 0, waiting = 0, running = 0, succeeded = 0, dead = 0, discarded = 0, cancelled = 0, removed = 0] =
    fields.map(Number)
  const accepted = queued + waiting + running + succeeded + dead + discarded + cancelled + removed
  return { accepted, queued, waiting, running, succeeded, dead, discarded, cancelled, removed }
}

export function added(a: Counts, b: Counts): Counts {
  return {
    accepted: a.accepted + b.accepted,
    queued: a.queued + b.queued,
    waiting: a.waiting + b.waiting,
    running: a.running + b.running,
    succeeded: a.succeeded + b.succeeded,
    dead: a.dead + b.dead,
    discarded: a.discarded + b.discarded,
    cancelled: a.cancelled + b.cancelled,
    removed: a.removed + b.removed,
  }
}

const FIELDS_PER_MINUTE = 9

/** Minutes with any event, oldest first. */
export async function series(partition: Partition, query: SeriesQuery): Promise<readonly SeriesPoint[]> {
  const { from, to } = query
  if (to - from > SERIES_POINTS_MAX * SERIES_STEP_MS) {
    throw new InvalidError(`A series has at most ${SERIES_POINTS_MAX} minutes.`)
  }
  if (!(from < to)) return []
  const sums = new Map<number, number[]>()
  let place: readonly string[] = ['', '0']
  do {
    const fields = asTexts(
      await partition.run(seriesScript, [String(from), String(to), ...givenScope(query), ...place]),
    )
    place = fields.slice(0, 2)
    for (let at = 2; at < fields.length; at += FIELDS_PER_MINUTE) {
      const [minute = 0, ...events] = fields.slice(at, at + FIELDS_PER_MINUTE).map(Number)
      const before = sums.get(minute) ?? []
      sums.set(
        minute,
        events.map((count, index) => count + (before[index] ?? 0)),
      )
    }
  } while (place[0] !== '')
  return [...sums].map(([at, events]) => {
    const [accepted = 0, started = 0, succeeded = 0, failed = 0, lost = 0, retried = 0, dead = 0, cancelled = 0] =
      events
    return { at, accepted, started, succeeded, failed, lost, retried, dead, cancelled }
  })
}
