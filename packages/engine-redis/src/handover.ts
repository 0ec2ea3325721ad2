// Leases that the one that claimed them does not run: a dispatcher hands its own over to workers' inboxes, a launcher lists those it
// looks after. How a worker collects what lies in its inbox is a part of the claim.

import {
  type Assignment,
  type AssignResult,
  type Launch,
  type LaunchPage,
  type LaunchQuery,
  StoreFailedError,
  type SupersededBecause,
  type TaskId,
  type WorkerId,
} from '@reprise/core'
import { checkBatch, checkLeaseMs, pageLimit } from '@reprise/core/engine'
import { ASSIGNMENT, LAUNCH_ROW, ordered, records } from './layout.ts'
import { asTexts, type Partition } from './partition.ts'
import { parseLease, parseRecord, parseState, parseText, snapshotOf, spentOf, tokenOf } from './records.ts'
import { assignScript, listLaunchesScript } from './scripts.generated.ts'

/** `isFit`, in a store with several partitions: which workers may be given work, by what all of them saw. */
export async function assign(
  partition: Partition,
  assignments: readonly Assignment[],
  isFit?: (assignment: Assignment) => boolean,
): Promise<readonly AssignResult[]> {
  checkAssignments(assignments)
  if (assignments.length === 0) return []
  const args = assignments.flatMap((assignment) => {
    const { taskId, attempt, token, worker, ttlMs, regardless } = assignment
    const judged = isFit === undefined ? (regardless === true ? 'any' : '') : isFit(assignment) ? 'fit' : 'unfit'
    const workerJson = JSON.stringify(worker)
    const known = { id: taskId, attempt: String(attempt), token, worker, workerJson, ttlMs: String(ttlMs), judged }
    return ordered(ASSIGNMENT, known)
  })
  const answers = asTexts(await partition.once(assignScript, [partition.thresholdsText, ...args]))
  return answers.map((answer): AssignResult => {
    const [outcome, because] = answer.split(' ')
    if (outcome === 'assigned' || outcome === 'stale') return { outcome }
    if (outcome === 'superseded') return { outcome, because: because as SupersededBecause }
    throw new StoreFailedError('The store answered an assignment with something unexpected.')
  })
}

export function checkAssignments(assignments: readonly Assignment[]): void {
  checkBatch(assignments.length)
  for (const { ttlMs } of assignments) checkLeaseMs(ttlMs)
}

const FIELDS_BEFORE_LAUNCHES = 2

/** By task id. */
export async function launches(partition: Partition, query: LaunchQuery): Promise<LaunchPage> {
  const wanted = String(pageLimit(query))
  const fields = asTexts(await partition.run(listLaunchesScript, [query.pool, query.cursor ?? '', wanted]))
  const rows = records(LAUNCH_ROW, fields, FIELDS_BEFORE_LAUNCHES).map(({ id, text, state, record, lease }) => {
    const { record: attempt } = parseRecord(record)
    return { id, attempt, lease: parseLease(lease), state: parseState(state), ...parseText(text) }
  })
  const names = await partition.learn(rows.map(({ head }) => head))
  const items = rows.map(({ id, attempt, lease, state, head, payload }): Launch => {
    const { handle, startedAt, leaseUntil, timeoutAt } = lease
    return {
      taskId: id as TaskId,
      attempt: attempt.attempt,
      token: tokenOf(attempt),
      worker: (attempt.worker ?? '') as WorkerId,
      handle,
      snapshot: snapshotOf(names, id, head, payload),
      ...spentOf(state),
      acceptedAt: head.acceptedAt,
      startedAt,
      leaseUntil,
      timeoutAt,
    }
  })
  const [now, next = ''] = fields
  return { items, next: next === '' ? null : next, now: Number(now) }
}
