// One look at what is past its time, and its settlement: leases nobody renews, attempts past their timeout, queue
// entries past their TTL or deadline. The store refuses whatever changed since the look, so any number of sweepers may
// do this at once. When to look is the sweep's business, not this module's.

import {
  BATCH_MAX,
  type Decision,
  decideFailed,
  decideLost,
  type Engine,
  type ExpiredResult,
  expired,
  type Failure,
  failed,
  formatDuration,
  lost,
  type Overdue,
  observedFailure,
  type Random,
  type Settlement,
} from '@reprise/core'

export interface SweepReport {
  /** What was past its time. */
  readonly overdue: number
  readonly settled: number
  /** Renewed, ended or settled by somebody else in between. */
  readonly superseded: number
  /** There may be more: the look came back with a full page. */
  readonly full: boolean
}

export async function sweepOnce(engine: Engine, random: Random): Promise<SweepReport> {
  return settleOverdue(engine, random, await engine.expired(BATCH_MAX))
}

export async function settleOverdue(engine: Engine, random: Random, look: ExpiredResult): Promise<SweepReport> {
  const { overdue, now } = look
  if (overdue.length === 0) return { overdue: 0, settled: 0, superseded: 0, full: false }
  const results = await engine.settle(overdue.map((item) => settlementFor(item, now, random.next())))
  const settled = results.filter((result) => result.outcome === 'settled' && !result.repeated).length
  return {
    overdue: overdue.length,
    settled,
    superseded: results.length - settled,
    full: overdue.length >= BATCH_MAX,
  }
}

function settlementFor(item: Overdue, now: number, roll: number): Settlement {
  const failure = failureOf(item)
  const input = { settings: item.snapshot.settings, spent: item, deadlineAt: deadlineOf(item), failure, now, roll }
  switch (item.kind) {
    case 'lease':
      return lost(item.ref, failure, decideLost(input))
    case 'timeout':
      return failed(item.ref, failure, decideFailed(input))
    case 'queue_ttl':
    case 'deadline': {
      const decision: Decision = decideFailed(input)
      return expired(item.ref, failure, decision)
    }
  }
}

function failureOf(item: Overdue): Failure {
  const { action, settings } = item.snapshot
  switch (item.kind) {
    case 'lease':
      return observedFailure('worker_lost', `Worker '${item.worker}' stopped renewing its lease.`, action)
    case 'timeout': {
      const allowed = formatDuration(settings.timeoutMs)
      return observedFailure('timeout', `The attempt ran past its timeout of ${allowed} and was not ended.`, action)
    }
    case 'queue_ttl': {
      const allowed = formatDuration(settings.queueTtlMs ?? 0)
      return observedFailure('queue_timeout', `It stood in the queue for longer than its TTL of ${allowed}.`, action)
    }
    case 'deadline':
      return observedFailure('deadline', 'Its deadline passed while it stood in the queue.', action)
  }
}

/** A deadline binds the first generation only: an operator who redrives a task wants it to run. */
function deadlineOf(item: Overdue): number | null {
  return item.generation === 1 ? item.snapshot.deadlineAt : null
}
