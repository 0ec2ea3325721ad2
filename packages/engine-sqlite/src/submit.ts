// Taking tasks in: each id and each dedupe key once, and a batch that the backlog has no room for not at all.

import {
  BacklogFullError,
  checkPast,
  InvalidError,
  type SubmitResult,
  type TaskDifference,
  type TaskId,
  type TaskSpec,
} from '@reprise/core'
import { checkBatch, keyUntil, taskDifferences } from '@reprise/core/engine'
import type { Database } from './database.ts'
import { bringPast } from './past.ts'
import { acceptRun, INLINE_PAYLOAD_LENGTH_MAX, labelsText, plainRun } from './plain-tasks.ts'
import { LIVE, WAITING } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

export function submit(transaction: Transaction, specs: readonly TaskSpec[], maxBacklog: number): SubmitResult[] {
  checkBatch(specs.length)
  for (const spec of specs) {
    checkTimes(spec)
    checkPast(spec.id, spec.past)
  }
  checkBacklog(transaction, specs, maxBacklog)
  const results: SubmitResult[] = []
  for (let spec = specs[0]; spec !== undefined; spec = specs[results.length]) {
    const run = plainRun(specs, results.length)
    const lane = run === 0 ? undefined : transaction.findLane(spec.pool, spec.action, spec.tenant)
    if (lane === undefined) {
      results.push(submitOne(transaction, spec))
      continue
    }
    const some = specs.slice(results.length, results.length + run)
    const accepted = acceptRun(transaction, lane, some)
    for (const [index, one] of some.entries())
      results.push(accepted[index] === true ? { outcome: 'accepted', id: one.id } : taken(transaction, one.id, one))
  }
  return results
}

function submitOne(transaction: Transaction, spec: TaskSpec): SubmitResult {
  const holder = findsHolder(transaction, spec) ? undefined : holderOf(transaction, spec)
  if (holder === undefined && acceptTask(transaction, spec) !== null) return { outcome: 'accepted', id: spec.id }
  return taken(transaction, holder ?? spec.id, spec)
}

function taken({ db }: Transaction, id: TaskId, spec: TaskSpec): SubmitResult {
  const differs = differencesFrom(db, id, spec)
  return differs.length === 0 ? { outcome: 'duplicate', id } : { outcome: 'conflict', id, differs }
}

/** What is asked for otherwise than by the task of this id. */
export function differencesFrom(db: Database, id: TaskId, spec: TaskSpec): readonly TaskDifference[] {
  const asked = db.get<Pick<TaskSpec, TaskDifference>>('askedOf', id)
  return asked === undefined ? [] : taskDifferences(asked, spec)
}

/** Nothing is written before this: a batch is refused whole. */
function checkBacklog(transaction: Transaction, specs: readonly TaskSpec[], maxBacklog: number): void {
  // Only a batch that may not fit is worth finding out how many of it are new.
  if (transaction.backlog + specs.length <= maxBacklog) return
  const ids = new Set<TaskId>()
  const keys = new Set<string>()
  for (const spec of specs) {
    const key = spec.dedupeKey === null ? null : `${spec.tenant}\n${spec.action}\n${spec.dedupeKey}`
    const isTaken = ids.has(spec.id) || (key !== null && keys.has(key)) || holderOf(transaction, spec) !== undefined
    if (isTaken) continue
    ids.add(spec.id)
    if (key !== null) keys.add(key)
  }
  if (ids.size > 0 && transaction.backlog + ids.size > maxBacklog) {
    throw new BacklogFullError(transaction.backlog, ids.size, maxBacklog)
  }
}

/** The task that has this id, or holds this dedupe key. */
export function holderOf(
  { db, now }: Pick<Transaction, 'db' | 'now'>,
  spec: Pick<TaskSpec, 'id' | 'tenant' | 'action' | 'dedupeKey'>,
): TaskId | undefined {
  const byId = db.get<{ id: TaskId }>('taskIdTaken', spec.id)
  if (byId !== undefined || spec.dedupeKey === null) return byId?.id
  return db.get<{ id: TaskId }>('dedupeHolder', spec.tenant, spec.action, spec.dedupeKey, now)?.id
}

/** Whether the insert of the task finds a holder by itself, and leaves no empty lane behind. */
const findsHolder = (transaction: Transaction, { dedupeKey, pool, action, tenant }: TaskSpec): boolean =>
  dedupeKey === null && transaction.findLane(pool, action, tenant) !== undefined

const isWhole = (value: number | null | undefined): boolean =>
  value === null || value === undefined || Number.isSafeInteger(value)

function checkTimes(spec: TaskSpec): void {
  const { delayMs, dueAt, deadlineAt, deadlineMs, dedupeMs } = spec
  if (isWhole(delayMs) && isWhole(dueAt) && isWhole(deadlineAt) && isWhole(deadlineMs) && isWhole(dedupeMs)) return
  for (const field of ['delayMs', 'dueAt', 'deadlineAt', 'deadlineMs', 'dedupeMs'] as const) {
    const value = spec[field] ?? null
    if (value !== null && !Number.isSafeInteger(value)) {
      throw new InvalidError(`${field} is a whole number of milliseconds, not ${value}.`)
    }
  }
}

/** Writes a task; null if its id is taken. `attempt` is how many attempts it has behind it elsewhere. */
export function acceptTask(transaction: Transaction, spec: TaskSpec, attempt = 0): { readonly seq: number } | null {
  const { db, now } = transaction
  const lane = transaction.laneOf(spec.pool, spec.action, spec.tenant)
  const seq = transaction.nextSeq()
  const dueAt = Math.max(spec.dueAt ?? 0, now + spec.delayMs)
  const isDue = dueAt <= now
  const { past } = spec
  const deadlineAt = earlier(spec.deadlineAt, spec.deadlineMs === null ? null : now + spec.deadlineMs)
  const rank = isDue && past?.isDead !== true ? transaction.nextRank() : null
  const inline = spec.payload.length <= INLINE_PAYLOAD_LENGTH_MAX
  const { changes } = db.run(
    'insertTask',
    seq,
    spec.id,
    lane.id,
    transaction.profiles.idOf(spec.settings),
    isDue ? LIVE : WAITING,
    spec.priority,
    attempt,
    now,
    rank,
    isDue ? null : dueAt,
    deadlineAt,
    isDue ? null : 'delayed',
    (spec.retryToken as string) === spec.id ? null : spec.retryToken,
    spec.dedupeKey,
    labelsText(spec.labels),
    inline ? spec.payload : null,
  )
  if (changes === 0) return null
  if (!inline) db.run('insertPayload', seq, spec.payload)
  if (spec.dedupeKey !== null) takeKey(transaction, spec, spec.dedupeKey, seq)
  transaction.count(lane, 'accepted')
  lane.bytes += Buffer.byteLength(spec.payload)
  const generation = past?.generation ?? 1
  const status = past?.isDead === true ? 'dead' : isDue ? 'queued' : 'waiting'
  transaction.move(lane, null, status)
  if (past !== undefined) bringPast(transaction, lane, { seq, id: spec.id, status }, past)
  if (status === 'dead') return { seq }
  if (rank !== null) {
    transaction.enqueue(
      lane,
      { seq, priority: spec.priority, generation, deadline_at: deadlineAt },
      rank,
      spec.settings,
    )
  } else {
    db.run('insertWaiting', lane.pool, dueAt, seq)
    transaction.wakePool(lane.pool)
  }
  return { seq }
}

/** The key is free: who had it before loses it. */
function takeKey({ db, now }: Transaction, spec: TaskSpec, dedupeKey: string, seq: number): void {
  const key = [spec.tenant, spec.action, dedupeKey]
  if (db.run('insertDedupe', ...key, seq).changes === 0) {
    db.run('loseKey', ...key)
    db.run('passKeyOn', ...key, seq)
  }
  const until = keyUntil(spec, now)
  if (until !== null) db.run('setKeyUntil', until, seq)
}

function earlier(first: number | null, second: number | null): number | null {
  if (first === null) return second
  return second === null ? first : Math.min(first, second)
}
