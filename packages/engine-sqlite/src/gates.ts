// What holds lanes back: holds (paused) and limits (concurrency) of operators, and beside them the breakers.

import { type Breaker, type By, InvalidError, type JournalEntryInput, type Rank, type Scope } from '@reprise/core'
import { checkRank, covers, type ExplainFacts, rankOf, scopeMatches, scopeText } from '@reprise/core/engine'
import type { Database } from './database.ts'
import type { Lane } from './lane.ts'
import { type ScopeRow, scopeOfRow, scopeValues } from './rows.ts'
import type { Transaction } from './transaction.ts'

interface HoldRow extends ScopeRow {
  readonly actor: string
  readonly reason: string
  readonly since: number
  readonly rank: Rank
}

export interface LimitRow extends ScopeRow {
  readonly concurrency: number
  readonly rank: Rank
}

const LANES_PER_STEP = 1_000
const CONCURRENCY_MAX = 1_000_000

export function pause(transaction: Transaction, scope: Scope, by: By): void {
  checkRank('hold', scope, ownerOf(transaction, 'holdOn', scope), by)
  transaction.db.run('saveHold', ...scopeValues(scope), by.actor, by.reason, transaction.now, rankOf(by))
  refreshHolds(transaction, scope)
  transaction.journal(laneEntry('lanes.paused', scope, by, {}))
}

export function resume(transaction: Transaction, scope: Scope, by: By): boolean {
  checkRank('hold', scope, ownerOf(transaction, 'holdOn', scope), by)
  if (transaction.db.run('deleteHold', ...scopeValues(scope)).changes === 0) return false
  refreshHolds(transaction, scope)
  transaction.journal(laneEntry('lanes.resumed', scope, by, {}))
  return true
}

/** The lanes of a scope begin or end to be held, after the holds or the breakers changed. */
export function refreshHolds(transaction: Transaction, scope: Scope): void {
  const { now, breakers } = transaction
  const holds = transaction.db.all<HoldRow>('allHolds').map(scopeOfRow)
  for (const lane of lanesInScope(transaction, scope)) {
    const isHeld = breakers.holds(lane) || holds.some((hold) => scopeMatches(hold, laneScope(lane)))
    if (isHeld === (lane.held_since !== null)) continue
    if (lane.held_since === null) lane.held_since = now
    else {
      lane.held_ms += now - lane.held_since
      lane.held_since = null
      lane.turn = Math.max(lane.turn, transaction.virtualTime(lane.pool))
      transaction.wakePool(lane.pool)
    }
    transaction.touch(lane)
  }
}

export function limit(transaction: Transaction, scope: Scope, concurrency: number | null, by: By): void {
  checkRank('limit', scope, ownerOf(transaction, 'limitOn', scope), by)
  if (concurrency === null) transaction.db.run('deleteLimit', ...scopeValues(scope))
  else {
    if (!Number.isInteger(concurrency) || concurrency < 0 || concurrency > CONCURRENCY_MAX)
      throw new InvalidError(
        `A limit is a whole number of running tasks, from 0 to ${CONCURRENCY_MAX}, not ${concurrency}.`,
      )
    transaction.db.run('saveLimit', ...scopeValues(scope), concurrency, rankOf(by))
  }
  transaction.limitsChanged()
  for (const lane of lanesInScope(transaction, scope)) transaction.wakePool(lane.pool)
  transaction.journal(laneEntry('lanes.limited', scope, by, { concurrency }))
}

/** Whose the hold or the limit on exactly this scope is; null if there is none. */
const ownerOf = ({ db }: Transaction, look: 'holdOn' | 'limitOn', scope: Scope): Rank | null =>
  db.get<{ rank: Rank }>(look, ...scopeValues(scope))?.rank ?? null

/** Every hold, limit and breaker, read once for as many lanes as are looked at. */
export interface Gates {
  readonly holds: ExplainFacts['holds']
  readonly limits: ExplainFacts['limits']
  readonly breakers: readonly Breaker[]
}

export function allGates(db: Database, breakers: readonly Breaker[]): Gates {
  return {
    breakers,
    holds: db.all<HoldRow>('allHolds').map((row) => {
      const { actor, reason, since, rank } = row
      return { scope: scopeOfRow(row), by: { actor, reason }, since, rank }
    }),
    limits: db.all<LimitRow>('allLimits').map((row) => {
      const { concurrency, rank } = row
      return { scope: scopeOfRow(row), running: runningIn(db, row), concurrency, rank }
    }),
  }
}

export function gatesOf({ holds, limits, breakers }: Gates, lane: ScopeRow): Gates {
  const names = laneScope(lane)
  const concerns = ({ scope }: { readonly scope: Scope }): boolean => scopeMatches(scope, names)
  return {
    holds: holds.filter(concerns),
    limits: limits.filter(concerns),
    breakers: breakers.filter((breaker) => covers(breaker, lane)),
  }
}

/** What holds a lane, in words; null if nothing does. */
export function laneHolder({ db, breakers }: Transaction, lane: ScopeRow): string | null {
  const names = laneScope(lane)
  const isPaused = db.all<HoldRow>('allHolds').some((row) => scopeMatches(scopeOfRow(row), names))
  if (isPaused) return `the paused lane of ${scopeText(names)}`
  return breakers.holds(lane) ? `action '${lane.action}', which a breaker holds,` : null
}

export function runningIn(db: Database, scope: ScopeRow): number {
  return db.get<{ running: number }>('countLanesInScope', scope.pool, scope.action, scope.tenant)?.running ?? 0
}

export function laneScope(lane: ScopeRow): Required<Scope> {
  return { pool: lane.pool, action: lane.action, tenant: lane.tenant } as Required<Scope>
}

function* lanesInScope(transaction: Transaction, scope: Scope): Generator<Lane> {
  transaction.saveLanes()
  let after = 0
  for (;;) {
    const rows = transaction.db.all<{ id: number }>('lanesInScope', ...scopeValues(scope), after, LANES_PER_STEP)
    for (const { id } of rows) yield transaction.lane(id)
    if (rows.length < LANES_PER_STEP) return
    after = rows.at(-1)?.id ?? after
  }
}

function laneEntry(
  type: JournalEntryInput['type'],
  scope: Scope,
  by: By,
  data: JournalEntryInput['data'],
): JournalEntryInput {
  return { type, taskId: null, attempt: null, actor: by.actor, reason: by.reason, data: { ...scope, ...data } }
}
