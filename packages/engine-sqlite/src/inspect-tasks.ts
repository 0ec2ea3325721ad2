// A task under inspection: whether the queue, the delay queue, its dedupe key and its failure group know of it as its own row
// says they should. What is missing is made again from that row: a task is never dropped.

import type { ActionName, Fingerprint, PoolName, Priority, TaskId, TenantId } from '@reprise/core'
import { claimOrder, FINDING_WORDS, filled } from '@reprise/core/engine'
import type { Inspector } from './inspect.ts'
import { DEAD, LIVE, WAITING } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

/** A row of inspectTasks. */
export interface TaskCheck {
  readonly seq: number
  readonly id: TaskId
  readonly lane: number
  readonly profile: number
  readonly status: number
  readonly priority: Priority
  readonly generation: number
  readonly attempt: number
  readonly rank: number | null
  readonly due_at: number | null
  readonly deadline_at: number | null
  readonly dedupe_key: string | null
  readonly fingerprint: Fingerprint | null
  readonly pool: PoolName
  readonly action: ActionName
  readonly tenant: TenantId
  readonly is_ready: 0 | 1
  readonly is_delayed: 0 | 1
  readonly is_leased: 0 | 1
  readonly is_done: 0 | 1
  readonly is_grouped: 0 | 1
  readonly dedupe_until: number | null
  readonly key_seq: number | null
}

export function inspectTask(inspector: Inspector, task: TaskCheck): void {
  const { find, db } = inspector
  const subject = { kind: 'task', id: task.id } as const
  const isQueued = task.status === LIVE && task.is_leased === 0 && task.is_done === 0
  if (isQueued && task.is_ready === 0) {
    find('queue_entry_missing', subject, FINDING_WORDS.noEntry, FINDING_WORDS.entryInLane, (repairing) =>
      enqueueAgain(repairing, task),
    )
  }
  if (task.status === WAITING && task.is_delayed === 0) {
    find(
      'delay_entry_missing',
      subject,
      FINDING_WORDS.noEntry,
      `${FINDING_WORDS.entryDueAt}${task.due_at}`,
      (repairing) => {
        db.run('insertWaiting', task.pool, task.due_at, task.seq)
        repairing.wakePool(task.pool)
      },
    )
  }
  if (task.dedupe_key !== null && task.key_seq !== task.seq && needsKey(inspector, task)) {
    inspectKey(inspector, task, task.dedupe_key)
  }
  if (task.status === DEAD && task.is_grouped === 0) {
    find('group_entry_missing', subject, 'no such group', `group '${task.fingerprint}'`, (repairing) =>
      makeGroup(repairing, task),
    )
  }
}

/** Under its old rank, if that is free: it keeps its place. Its queue TTL begins anew. The lane counts it already. */
function enqueueAgain(transaction: Transaction, task: TaskCheck): void {
  const { db, now } = transaction
  const lane = transaction.lane(task.lane)
  const place = claimOrder(task.priority)
  let { rank } = task
  if (rank === null || db.get('entryAt', lane.id, place, rank) !== undefined) {
    rank = transaction.nextRank()
    db.run('setRank', rank, task.seq)
  }
  const { queueTtlMs } = transaction.profiles.settingsOf(task.profile)
  const expires = queueTtlMs === null ? null : transaction.laneTime(lane) + queueTtlMs
  const deadline = task.generation === 1 ? task.deadline_at : null
  transaction.wakeLane(lane)
  db.run('insertReady', lane.id, place, rank, task.seq, now, expires, deadline)
  transaction.wakePool(lane.pool)
}

/** Whether it holds its key, or will when it comes back: a dead letter may. */
function needsKey({ now }: Inspector, { dedupe_until, status, is_done }: TaskCheck): boolean {
  if (dedupe_until !== null) return dedupe_until > now
  return (status === LIVE && is_done === 0) || status === WAITING || status === DEAD
}

function inspectKey({ find, db, now }: Inspector, task: TaskCheck, key: string): void {
  const { seq, key_seq, tenant, action, lane } = task
  const holder = key_seq === null ? undefined : db.get<{ id: TaskId }>('keyOfTask', key_seq, key, lane, now)
  const held = (by: string): string => filled(FINDING_WORDS.keyHeld, key) + by
  const expected = held('it')
  const subject = { kind: 'task', id: task.id } as const
  if (holder !== undefined) {
    find('key_twice', subject, held(`task '${holder.id}'`), expected)
    return
  }
  const found = held(key_seq === null ? 'nobody' : FINDING_WORDS.somethingElse)
  find('key_missing', subject, found, expected, () => {
    db.run('insertDedupe', tenant, action, key, seq)
    db.run('passKeyOn', tenant, action, key, seq)
  })
}

function makeGroup(transaction: Transaction, task: TaskCheck): boolean {
  const { db, now } = transaction
  const { seq, attempt, fingerprint } = task
  const group = db.get<{ count: number; failure: string | null }>('groupToBe', seq, attempt, fingerprint)
  if (group === undefined || group.failure === null || fingerprint === null) return false
  db.run('insertFailureGroup', fingerprint, task.action, group.count, now, now, task.id, group.failure)
  return true
}
