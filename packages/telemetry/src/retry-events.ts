// What a bad end of an attempt means to people: the counters of B9 and one log line per event with its fields. It is told
// of ends that the store has accepted, and decides nothing.

import type { Decision, Failure, Logger, Settlement, TaskId, TaskStatus } from '@reprise/core'
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

  /** An operator sent so many tasks back to work. */
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
    this.#log[isGrave ? 'warn' : 'info'](sentenceOf(settlement.kind, status, decision), fields)
  }

  #escalate(end: BadEnd, pool: string): void {
    const { decision } = end.settlement
    if (decision.kind !== 'dead' || decision.escalation === undefined) return
    const { severity, owner, runbook } = decision.escalation
    this.#escalated.inc({ pool, reason: decision.reason, severity })
    this.#log.warn('A dead letter waits for its owner, as its policy says.', {
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

function sentenceOf(kind: BadSettlement['kind'], status: TaskStatus, decision: Decision): string {
  if (status === 'queued') return 'An attempt failed in an outage; its task waits in the queue, uncharged.'
  const what = kind === 'lost' ? 'An attempt was lost with its worker.' : WHAT[status === 'dead' ? 'dead' : 'retry']
  return `${what} ${decision.sentence}`
}

const WHAT = { dead: 'A task is dead.', retry: 'An attempt failed.' }

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
