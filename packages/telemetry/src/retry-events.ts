// What a bad end of an attempt means to people: the counters of B9 and one log line per event with its fields. It hears
// only of ends that the store has accepted, and decides nothing.

import {
  badEndLine,
  type Decision,
  type Failure,
  type Logger,
  type Settlement,
  type TaskId,
  type TaskStatus,
  workOrderId,
} from '@reprise/core'
import { CATALOGUE } from './catalogue.ts'
import type { LeaseFact } from './lease-facts.ts'
import { UNKNOWN_POOL } from './pool-meters.ts'
import { counter, type MetricsRegistry } from './registry.ts'

type BadSettlement = Extract<Settlement, { kind: 'failed' | 'lost' | 'expired' }>

export interface BadEnd {
  readonly settlement: BadSettlement
  /** Where the task went. */
  readonly status: TaskStatus
  readonly fact: LeaseFact | undefined
  /** The store's time as far as it is known here, else this process's. */
  readonly now: number
}

/** The fields of B9, on every line about a retry. */
export interface RetryFields {
  readonly event: string
  readonly task_id: TaskId
  /** Null if another process claimed the attempt. */
  readonly retry_token: string | null
  readonly attempt: number
  readonly reason: string
  /** As it was decided; a retry quota may move it to a later time. Null if there is no next attempt. */
  readonly next_retry_at: string | null
  readonly dlq_flag: boolean
  readonly workorder_id: string | null
}

export function retryEvents(registry: MetricsRegistry, log: Logger) {
  const scheduled = counter(registry, CATALOGUE.retryScheduled)
  const succeeded = counter(registry, CATALOGUE.retrySuccess)
  const failed = counter(registry, CATALOGUE.retryFailure)
  const dead = counter(registry, CATALOGUE.retryDlq)
  const escalated = counter(registry, CATALOGUE.retryEscalated)
  const parked = counter(registry, CATALOGUE.parked)

  const tell = (end: BadEnd): void => {
    const { settlement, status } = end
    const { failure, decision, kind } = settlement
    const fields = { ...fieldsOf(eventOf(kind, status), end), error_code: failure.code }
    const words = { kind, failure, decision, status, attempt: settlement.ref.attempt }
    const level = status === 'dead' || kind === 'lost' ? 'warn' : 'info'
    log[level](badEndLine({ subject: subjectOf(end), ...words }), fields)
  }
  const escalate = (end: BadEnd, pool: string): void => {
    const { decision } = end.settlement
    if (decision.kind !== 'dead' || decision.escalation === undefined) return
    const { severity, owner = null, runbook = null } = decision.escalation
    escalated.inc({ pool, reason: decision.reason, severity })
    const words = `${subjectOf(end)} waits for ${owner ?? 'its owner'} (${severity}): it is a dead letter.`
    log.warn(words, { ...fieldsOf('task.retry.escalated', end), severity, owner, runbook })
  }
  return {
    /** An attempt after the first succeeded. */
    retrySucceeded(fact: LeaseFact | undefined): void {
      succeeded.inc({ pool: fact?.meters.pool ?? UNKNOWN_POOL, reason: fact?.retryReason ?? 'unknown' })
    },

    /** An operator sent tasks back to work. */
    byOperator(count: number, pool: string): void {
      if (count > 0) scheduled.inc({ pool, reason: 'manual' }, count)
    },

    endedBadly(end: BadEnd): void {
      const { settlement, status, fact } = end
      const { failure, decision, ref } = settlement
      const pool = fact?.meters.pool ?? UNKNOWN_POOL
      if (ref.attempt > 1) failed.inc({ pool, reason: failure.reason })
      if (status === 'waiting') scheduled.inc({ pool, reason: failure.reason })
      else if (status === 'queued') parked.inc({ pool, reason: failure.reason })
      else if (status === 'dead') dead.inc({ pool, reason: decision.reason })
      tell(end)
      if (status === 'dead') escalate(end, pool)
    },
  }
}

function eventOf(kind: BadSettlement['kind'], status: TaskStatus): string {
  if (kind === 'lost') return 'task.execution.lost'
  if (status === 'dead') return 'task.retry.dlq'
  return status === 'queued' ? 'task.parked' : 'task.retry.scheduled'
}

/** The action; another process may have claimed the attempt, and then only the task is known. */
const subjectOf = ({ fact, settlement }: BadEnd): string => fact?.action ?? `Task ${settlement.ref.taskId}`

function fieldsOf(event: string, { settlement, status, fact, now }: BadEnd): RetryFields {
  const { ref, failure, decision } = settlement
  const isScheduled = status === 'waiting' && decision.kind === 'retry'
  return {
    event,
    task_id: ref.taskId,
    retry_token: fact?.retryToken ?? null,
    attempt: ref.attempt,
    reason: reasonOf(failure, decision, status),
    next_retry_at: isScheduled ? new Date(Math.round(now) + decision.delayMs).toISOString() : null,
    dlq_flag: status === 'dead',
    workorder_id: workOrderOf(settlement, status),
  }
}

/** The one that the dead letter gets, or that its failure group has: its id follows from what it is about. */
function workOrderOf({ ref, failure, decision }: BadSettlement, status: TaskStatus): string | null {
  if (status !== 'dead' || decision.kind !== 'dead') return null
  const { fingerprint } = failure
  return workOrderId(decision.escalation?.workOrder === 'task' ? { fingerprint, taskId: ref.taskId } : { fingerprint })
}

/** For a dead letter why it is one; else what went wrong. */
function reasonOf(failure: Failure, decision: Decision, status: TaskStatus): string {
  return status === 'dead' ? decision.reason : failure.reason
}
