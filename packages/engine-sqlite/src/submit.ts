// Taking tasks in.

import { BATCH_MAX, BacklogFullError, InvalidError, type SubmitResult, type TaskId, type TaskSpec } from '@reprise/core'
import { LIVE, WAITING } from './rows.ts'
import type { Lane, Transaction } from './transaction.ts'

/** A longer payload gets a row of its own, so that the task's row stays cheap to update. */
const INLINE_PAYLOAD_LENGTH_MAX = 1_024

export function submit(transaction: Transaction, specs: readonly TaskSpec[], backlogMax: number): SubmitResult[] {
  checkBatch(specs.length)
  const results = specs.map((spec) => resultFor(transaction, spec))
  const idsInBatch = new Set<TaskId>()
  const keysInBatch = new Map<string, TaskId>()
  const accepted: TaskSpec[] = []
  for (const [index, spec] of specs.entries()) {
    if (results[index]?.outcome === 'duplicate') continue
    const key = spec.dedupeKey === null ? null : `${spec.tenant}\n${spec.dedupeKey}`
    const owner = idsInBatch.has(spec.id) ? spec.id : key === null ? undefined : keysInBatch.get(key)
    if (owner !== undefined) {
      results[index] = { outcome: 'duplicate', id: owner }
      continue
    }
    idsInBatch.add(spec.id)
    if (key !== null) keysInBatch.set(key, spec.id)
    accepted.push(spec)
  }
  if (transaction.backlog + accepted.length > backlogMax) {
    throw new BacklogFullError(transaction.backlog, accepted.length, backlogMax)
  }
  for (const spec of accepted) acceptTask(transaction, spec)
  return results
}

export function checkBatch(size: number): void {
  if (size > BATCH_MAX)
    throw new InvalidError(`One call takes at most ${BATCH_MAX} items, not ${size}. Send them in several calls.`)
}

function resultFor(transaction: Transaction, spec: TaskSpec): SubmitResult {
  if (transaction.db.get('taskIdTaken', spec.id) !== undefined) return { outcome: 'duplicate', id: spec.id }
  if (spec.dedupeKey !== null) {
    const owner = transaction.db.get<{ id: TaskId }>('dedupeOwner', spec.tenant, spec.dedupeKey)
    if (owner !== undefined) return { outcome: 'duplicate', id: owner.id }
  }
  return { outcome: 'accepted', id: spec.id }
}

/** Writes a task that is known to be new. `attempt` is how many attempts it has behind it elsewhere. */
export function acceptTask(
  transaction: Transaction,
  spec: TaskSpec,
  attempt = 0,
): { readonly seq: number; readonly lane: Lane } {
  const { db, now } = transaction
  const lane = transaction.laneOf(spec.pool, spec.action, spec.tenant)
  const seq = transaction.nextSeq()
  const dueAt = Math.max(spec.dueAt ?? 0, now + spec.delayMs)
  const isDue = dueAt <= now
  const deadlineAt = earlier(spec.deadlineAt, spec.deadlineMs === null ? null : now + spec.deadlineMs)
  const rank = isDue ? transaction.nextRank() : null
  const inline = spec.payload.length <= INLINE_PAYLOAD_LENGTH_MAX
  db.run(
    'insertTask',
    seq,
    spec.id,
    lane.id,
    transaction.profiles.idOf(spec.settings),
    isDue ? LIVE : WAITING,
    spec.priority,
    attempt,
    now,
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
  return { seq, lane }
}

function labelsText(labels: Readonly<Record<string, string>>): string | null {
  for (const _ in labels) return JSON.stringify(labels)
  return null
}

function earlier(first: number | null, second: number | null): number | null {
  if (first === null) return second
  return second === null ? first : Math.min(first, second)
}
