// Taking tasks in: each id and each dedupe key once, and a batch that the backlog has no room for not at all.

import { BacklogFullError, InvalidError, type SubmitResult, type TaskId, type TaskSpec } from '@reprise/core'
import { checkBatch } from '@reprise/core/engine'
import type { Database } from './database.ts'
import { LIVE, WAITING } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

/** A longer payload gets a row of its own, so that the task's row stays cheap to update. */
const INLINE_PAYLOAD_LENGTH_MAX = 1_024

export function submit(transaction: Transaction, specs: readonly TaskSpec[], backlogMax: number): SubmitResult[] {
  checkBatch(specs.length)
  for (const spec of specs) checkTimes(spec)
  checkBacklog(transaction, specs, backlogMax)
  return specs.map((spec) => {
    const owner = ownerOf(transaction, spec)
    if (owner !== undefined) return { outcome: 'duplicate', id: owner }
    return acceptTask(transaction, spec) === null
      ? { outcome: 'duplicate', id: spec.id }
      : { outcome: 'accepted', id: spec.id }
  })
}

/** Nothing is written before this: a batch is refused whole. */
function checkBacklog(transaction: Transaction, specs: readonly TaskSpec[], backlogMax: number): void {
  // Only a batch that may not fit is worth finding out how many of it are new.
  if (transaction.backlog + specs.length <= backlogMax) return
  const ids = new Set<TaskId>()
  const keys = new Set<string>()
  for (const spec of specs) {
    const key = spec.dedupeKey === null ? null : `${spec.tenant}\n${spec.dedupeKey}`
    const isTaken = ids.has(spec.id) || (key !== null && keys.has(key)) || holderOf(transaction.db, spec) !== undefined
    if (isTaken) continue
    ids.add(spec.id)
    if (key !== null) keys.add(key)
  }
  if (ids.size > 0 && transaction.backlog + ids.size > backlogMax) {
    throw new BacklogFullError(transaction.backlog, ids.size, backlogMax)
  }
}

/** The task that has this id, or this dedupe key. */
export function holderOf(db: Database, spec: Pick<TaskSpec, 'id' | 'tenant' | 'dedupeKey'>): TaskId | undefined {
  const byId = db.get<{ id: TaskId }>('taskIdTaken', spec.id)
  if (byId !== undefined || spec.dedupeKey === null) return byId?.id
  return db.get<{ id: TaskId }>('dedupeOwner', spec.tenant, spec.dedupeKey)?.id
}

/** Looks for a holder only where the insert of the task would not find it by itself, or would leave an empty lane behind. */
function ownerOf(transaction: Transaction, spec: TaskSpec): TaskId | undefined {
  const isPlain = spec.dedupeKey === null && transaction.findLane(spec.pool, spec.action, spec.tenant) !== undefined
  return isPlain ? undefined : holderOf(transaction.db, spec)
}

function checkTimes(spec: TaskSpec): void {
  for (const field of ['delayMs', 'dueAt', 'deadlineAt', 'deadlineMs'] as const) {
    const value = spec[field]
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
  const deadlineAt = earlier(spec.deadlineAt, spec.deadlineMs === null ? null : now + spec.deadlineMs)
  const rank = isDue ? transaction.nextRank() : null
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
  if (spec.dedupeKey !== null) db.run('insertDedupe', spec.tenant, spec.dedupeKey, seq)
  transaction.move(lane, null, isDue ? 'queued' : 'waiting')
  transaction.count(lane, 'accepted')
  if (rank !== null) {
    transaction.enqueue(
      lane,
      { seq, priority: spec.priority, generation: 1, deadline_at: deadlineAt },
      rank,
      spec.settings,
    )
  } else {
    db.run('insertWaiting', lane.pool, dueAt, seq)
    transaction.wakePool(lane.pool)
  }
  return { seq }
}

function labelsText(labels: Readonly<Record<string, string>>): string | null {
  for (const _ in labels) return JSON.stringify(labels)
  return null
}

function earlier(first: number | null, second: number | null): number | null {
  if (first === null) return second
  return second === null ? first : Math.min(first, second)
}
