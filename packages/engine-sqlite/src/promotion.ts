// The delay queue: a claim promotes some of what is due in the pools it asks for. A pool of which more is left then rests for a
// moment if there is much to claim already: when very many tasks come due at once, other work goes on. Step 3 of the claim in
// docs/engine-port.md.

import type { Priority } from '@reprise/core'
import { PROMOTE_MAX, PROMOTE_REST_MS, PROMOTE_REST_READY } from '@reprise/core/engine'
import type { Lane } from './lane.ts'
import type { Transaction } from './transaction.ts'

interface DueRow {
  readonly seq: number
  readonly due_at: number
  readonly lane: number
  readonly priority: Priority
  readonly profile: number
  readonly generation: number
  readonly deadline_at: number | null
}

export function promoteDue(transaction: Transaction, pools: readonly string[]): void {
  const { db, now } = transaction
  const ready = pools.filter((pool) => isDue(transaction, pool) && restsUntil(transaction, pool) === null)
  if (ready.length === 0) return
  const due = ready.flatMap((pool) => db.all<DueRow>('dueTasks', pool, now, PROMOTE_MAX))
  if (ready.length > 1) due.sort((a, b) => a.due_at - b.due_at || a.seq - b.seq)
  const promoted = due.slice(0, PROMOTE_MAX)
  const firstRank = transaction.nextRank(promoted.length)
  const lastOf = new Map<string, DueRow>()
  const lanes = new Set<Lane>()
  for (const [index, row] of promoted.entries()) {
    const lane = transaction.lane(row.lane)
    const rank = firstRank + index
    db.run('enterQueue', now, rank, row.seq)
    transaction.move(lane, 'waiting', 'queued')
    transaction.enqueue(lane, row, rank, transaction.profiles.settingsOf(row.profile))
    lastOf.set(lane.pool, row)
    lanes.add(lane)
  }
  for (const [pool, last] of lastOf) db.run('deleteWaitingUpTo', pool, last.due_at, last.seq)
  for (const pool of ready)
    if (readyIn(lanes, pool) >= PROMOTE_REST_READY && isDue(transaction, pool)) db.run('notePromotion', pool, now)
}

function readyIn(lanes: ReadonlySet<Lane>, pool: string): number {
  let ready = 0
  for (const lane of lanes) if (lane.pool === pool) ready += lane.ready
  return ready
}

/** When a claim can promote the first of what waits in these pools; null if nothing waits. */
export function nextPromotionAt(transaction: Transaction, pools: readonly string[]): number | null {
  let next: number | null = null
  for (const pool of pools) {
    const dueAt = firstDueAt(transaction, pool)
    if (dueAt === null) continue
    const at = dueAt > transaction.now ? dueAt : (restsUntil(transaction, pool) ?? dueAt)
    if (next === null || at < next) next = at
  }
  return next
}

function firstDueAt({ db }: Transaction, pool: string): number | null {
  return db.get<{ due_at: number }>('nextDue', pool)?.due_at ?? null
}

function isDue(transaction: Transaction, pool: string): boolean {
  const dueAt = firstDueAt(transaction, pool)
  return dueAt !== null && dueAt <= transaction.now
}

function restsUntil({ db, now }: Transaction, pool: string): number | null {
  const at = db.get<{ promoted_at: number | null }>('lastPromotion', pool)?.promoted_at ?? null
  return at !== null && now >= at && now < at + PROMOTE_REST_MS ? at + PROMOTE_REST_MS : null
}
