// The recount: how many tasks of each lane stand where, held against the counts that are kept. It goes over all tasks of one
// moment, on a connection of its own, in slices between which other work of the process gets its turn. What a count is off by
// stays the same whatever happens meanwhile, because every transition changes tasks and counts together: so a repair takes
// just that much away from the count as it is then. In memory there is no second connection: the slices follow at once.

import {
  BATCH_MAX,
  type Clock,
  type Counts,
  type Finding,
  type InspectRequest,
  type InspectResult,
  TASK_STATUSES,
} from '@reprise/core'
import { findingOf } from '@reprise/core/engine'
import type { Database } from './database.ts'
import type { GroupCommit } from './group-commit.ts'
import { journalRepair } from './inspect.ts'
import type { Lane } from './lane.ts'
import { scopeOfRow } from './rows.ts'
import { CANCELLED, DEAD, DISCARDED, LIVE, RETIRED, RUNNING, SUCCEEDED, WAITING } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

const SLICE = 5_000

const COUNTED = [...TASK_STATUSES, 'ready', 'bytes'] as const
type Counted = (typeof COUNTED)[number]
type Numbers = Readonly<Record<Counted, number>>

interface CountRow {
  readonly lane: number
  readonly stand: number
  readonly count: number
  readonly bytes: number
}

interface Off {
  readonly lane: Lane
  /** What each count says too much. */
  readonly by: Partial<Record<Counted, number>>
  readonly recount: Numbers
}

interface Recount {
  readonly checked: number
  readonly lanes: readonly Off[]
  readonly backlog: { readonly found: number; readonly expected: number }
  /** The last entry of the journal at that moment. */
  readonly entry: number
}

export async function recount(
  db: Database,
  clock: Clock,
  commits: GroupCommit,
  request: InspectRequest,
): Promise<InspectResult> {
  const seen = await countAside(db, clock)
  const findings = request.repair
    ? await commits.write((transaction) => repair(transaction, seen, request))
    : findingsOf(seen, false)
  return { checked: seen.checked, findings, unchecked: [], next: null }
}

async function countAside(db: Database, clock: Clock): Promise<Recount> {
  const aside = db.openAside()
  if (aside === null) return db.snapshot(() => runThrough(counting(db)))
  try {
    aside.exec('BEGIN')
    const steps = counting(aside)
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      await new Promise<void>((resolve) => clock.soon(resolve))
    }
  } finally {
    aside.close()
  }
}

function runThrough(steps: Generator<void, Recount, void>): Recount {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Comes up for air after each slice. */
function* counting(db: Database): Generator<void, Recount, void> {
  const entry = db.get<{ id: number }>('newestEntry')?.id ?? 0
  const backlog = db.get<{ backlog: number }>('loadStore')?.backlog ?? 0
  const newest = db.get<{ seq: number }>('newestSeq')?.seq ?? 0
  const oldest = db.get<{ seq: number }>('oldestSeq')?.seq ?? 0
  const stands = new Map<number, Map<number, number>>()
  const bytesOf = new Map<number, number>()
  let checked = 0
  for (let after = oldest - 1; after < newest; after += SLICE) {
    for (const { lane, stand, count, bytes } of db.all<CountRow>('countTasksBetween', after, after + SLICE)) {
      const own = stands.get(lane) ?? new Map<number, number>()
      own.set(stand, (own.get(stand) ?? 0) + count)
      stands.set(lane, own)
      bytesOf.set(lane, (bytesOf.get(lane) ?? 0) + bytes)
      checked += count
    }
    yield
  }
  const lanes: Off[] = []
  let expected = 0
  for (let after = 0; ; ) {
    const page = db.all<Lane>('lanesAfter', after, BATCH_MAX)
    for (const lane of page) {
      const numbers = numbersOf(stands.get(lane.id) ?? new Map(), bytesOf.get(lane.id) ?? 0)
      const off = COUNTED.filter((name) => lane[name] !== numbers[name])
      const by = Object.fromEntries(off.map((name) => [name, lane[name] - numbers[name]]))
      if (off.length > 0) lanes.push({ lane, by, recount: numbers })
      expected += numbers.queued + numbers.waiting
    }
    checked += page.length
    const last = page.at(-1)
    if (last === undefined || page.length < BATCH_MAX) break
    after = last.id
    yield
  }
  return { checked, lanes, backlog: { found: backlog, expected }, entry }
}

function numbersOf(stands: ReadonlyMap<number, number>, bytes: number): Numbers {
  const at = (stand: number): number => stands.get(stand) ?? 0
  return {
    ready: at(LIVE),
    queued: at(LIVE) + at(RETIRED),
    waiting: at(WAITING),
    running: at(RUNNING),
    succeeded: at(SUCCEEDED),
    dead: at(DEAD),
    discarded: at(DISCARDED),
    cancelled: at(CANCELLED),
    bytes,
  }
}

function findingsOf({ lanes, backlog }: Recount, repaired: boolean): Finding[] {
  const ofLanes = lanes.map(({ lane, by, recount: numbers }) => {
    const text = (counts: Readonly<Record<Counted, number>>): string =>
      COUNTED.filter((name) => by[name] !== undefined)
        .map((name) => `${name} ${counts[name]}`)
        .join(', ')
    const subject = { kind: 'lane', scope: scopeOfRow(lane) } as const
    return findingOf({ kind: 'count', subject, found: text(lane), expected: text(numbers), repaired })
  })
  if (backlog.found === backlog.expected) return ofLanes
  const [found, expected] = [`backlog ${backlog.found}`, `backlog ${backlog.expected}`]
  return [...ofLanes, findingOf({ kind: 'count', subject: { kind: 'store' }, found, expected, repaired })]
}

function repair(transaction: Transaction, seen: Recount, request: InspectRequest): readonly Finding[] {
  // Somebody else repaired meanwhile, maybe the same: then this recount is out of date, and the next one will tell.
  if (transaction.db.get('repairedSince', seen.entry) !== undefined) return findingsOf(seen, false)
  for (const { lane, by } of seen.lanes) correct(transaction, transaction.lane(lane.id), by)
  transaction.correctBacklog(seen.backlog.expected - seen.backlog.found)
  const findings = findingsOf(seen, true)
  for (const finding of findings) journalRepair(transaction, finding, request)
  return findings
}

function correct(transaction: Transaction, lane: Lane, by: Off['by']): void {
  for (const name of COUNTED) lane[name] -= by[name] ?? 0
  // What was removed can't be recounted, so what was accepted follows from the rest.
  lane.accepted = sumOf(lane)
  transaction.touch(lane)
  transaction.wakePool(lane.pool)
}

const sumOf = (counts: Counts): number =>
  TASK_STATUSES.reduce((total, status) => total + counts[status], counts.removed)
