// Tasks that come from elsewhere: the attempts that they had there, and what is left of their budgets. The task itself has just been
// written; this is the same step.

import type { TaskId, TaskPast } from '@reprise/core'
import { importedData, standingAfter } from '@reprise/core/engine'
import { NO_BUILD } from './builds.ts'
import type { Lane } from './lane.ts'
import { EXECUTION_NUMBER } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

interface Accepted {
  readonly seq: number
  readonly id: TaskId
  readonly status: 'dead' | 'queued' | 'waiting'
}

export function bringPast(transaction: Transaction, lane: Lane, { seq, id, status }: Accepted, past: TaskPast): void {
  const { db } = transaction
  for (const one of past.attempts) {
    const { attempt, generation, worker, build, dispatchedAt, resolvedAt, retryReason, failure, decision } = one
    const number =
      worker === null ? null : transaction.workerNames.idOf(worker, build === null ? NO_BUILD : JSON.stringify(build))
    const ran = [number, transaction.nextToken(), dispatchedAt, resolvedAt]
    const why = [retryReason, JSON.stringify(failure), JSON.stringify(decision)]
    db.run('insertExecution', seq, attempt, generation, EXECUTION_NUMBER[one.status], ...ran, ...why)
  }
  const { dead, generation, attempt, attemptsBefore, failures, losses, parks, retryReason, died } = standingAfter(past)
  const diedOf = died?.failure.fingerprint ?? null
  db.run('bringPast', generation, attempt, attemptsBefore, failures, losses, parks, retryReason, diedOf, seq)
  if (dead !== null) {
    const { at, reason, failure } = dead
    db.run('reviveDead', at, reason, failure.fingerprint, seq)
    db.run('joinFailureGroupOfThen', failure.fingerprint, lane.action, at, id, JSON.stringify(failure))
    transaction.ended(id)
  } else if (died !== null) {
    const { failure, resolvedAt } = died
    db.run('knowFailureGroup', failure.fingerprint, lane.action, resolvedAt, id, JSON.stringify(failure))
  }
  transaction.journal({
    type: 'task.imported',
    taskId: id,
    attempt: attempt === 0 ? null : attempt,
    actor: past.by.actor,
    reason: past.by.reason,
    data: importedData(past, lane.action, status),
  })
}
