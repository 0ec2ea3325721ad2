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
} from '@reprise/core'
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

export class RetryEvents {
  readonly #log: Logger
  readonly #scheduled
  readonly #succeeded
  readonly #failed
  readonly #dead
  readonly #escalated
  readonly #parked

  constructor(registry: MetricsRegistry, log: Logger) {
    this.#log = log
    this.#scheduled = counter(registry, 'retryScheduled')
    this.#succeeded = counter(registry, 'retrySuccess')
    this.#failed = counter(registry, 'retryFailure')
    this.#dead = counter(registry, 'retryDlq')
    this.#escalated = counter(registry, 'retryEscalated')
    this.#parked = counter(registry, 'parked')
  }

  /** An attempt after the first succeeded. */
  retrySucceeded(fact: LeaseFact | undefined): void {
    this.#succeeded.inc({ pool: fact?.meters.pool ?? UNKNOWN_POOL, reason: fact?.retryReason ?? 'unknown' })
  }

  /** An operator sent tasks back to work. */
  byOperator(count: number, pool: string): void {
    if (count > 0) this.#scheduled.inc({ pool, reason: 'manual' }, count)
  }

  endedBadly(end: BadEnd): void {
    const { settlement, status, fact } = end
    const { failure, decision, ref } = settlement
    const pool = fact?.meters.pool ?? UNKNOWN_POOL
    if (ref.attempt > 1) this.#failed.inc({ pool, reason: failure.reason })
    if (status === 'waiting') this.#scheduled.inc({ pool, reason: failure.reason })
    else if (status === 'queued') this.#parked.inc({ pool, reason: failure.reason })
    else if (status === 'dead') this.#dead.inc({ pool, reason: decision.reason })
    this.#tell(end)
    if (status === 'dead' && decision.kind === 'dead' && decision.escalation !== undefined) this.#escalate(end, pool)
  }

  #tell(end: BadEnd): void {
    const { settlement, status } = end
    const { failure, decision } = settlement
    const fields = { ...fieldsOf(eventOf(settlement.kind, status), end), error_code: failure.code }
    const isGrave = status === 'dead' || settlement.kind === 'lost'
    const words = { kind: settlement.kind, failure, decision, status, attempt: settlement.ref.attempt }
    this.#log[isGrave ? 'warn' : 'info'](badEndLine({ subject: subjectOf(end), ...words }), fields)
  }

  #escalate(end: BadEnd, pool: string): void {
    const { decision } = end.settlement
    if (decision.kind !== 'dead' || decision.escalation === undefined) return
    const { severity, owner, runbook } = decision.escalation
    this.#escalated.inc({ pool, reason: decision.reason, severity })
    this.#log.warn(`${subjectOf(end)} waits for ${owner ?? 'its owner'} (${severity}): it is a dead letter.`, {
      ...fieldsOf('task.retry.escalated', end),
      severity,
      owner: owner ?? null,
      runbook: runbook ?? null,
    })
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
    workorder_id: null,
  }
}

/** For a dead letter why it is one; else what went wrong. */
function reasonOf(failure: Failure, decision: Decision, status: TaskStatus): string {
  return status === 'dead' ? decision.reason : failure.reason
}
