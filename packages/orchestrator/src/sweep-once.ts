// One look at what is past its time, and its settlement: leases nobody renews, attempts past their timeout, queue
// entries past their TTL or deadline, tasks nobody collected from an inbox. The store refuses whatever changed since the look, so any number of sweepers may
// do this at once. When to look is the sweep's business, not this module's.

import {
  BATCH_MAX,
  type Circumstances,
  type ExpiredResult,
  expired,
  failed,
  formatDuration,
  type Judgement,
  judgeLost,
  judgeObserved,
  lost,
  NO_POLICIES,
  type Observing,
  type Overdue,
  type PolicyBook,
  type Random,
  released,
  type Settlement,
  type Upkeep,
  type Work,
} from '@reprise/core'
import { excusedLosses } from './excused-losses.ts'

/** What a sweep asks of a store. */
export type SweepingEngine = Upkeep & Work & Pick<Observing, 'executions' | 'worker'>

export interface SweepReport {
  /** What was past its time. */
  readonly overdue: number
  readonly settled: number
  /** Renewed, ended or settled by somebody else in between. */
  readonly superseded: number
  /** There may be more: the look came back with a full page. */
  readonly full: boolean
}

export async function sweepOnce(
  engine: SweepingEngine,
  random: Random,
  book: PolicyBook = NO_POLICIES,
): Promise<SweepReport> {
  return settleOverdue(engine, random, await engine.expired(BATCH_MAX), book)
}

export async function settleOverdue(
  engine: SweepingEngine,
  random: Random,
  look: ExpiredResult,
  book: PolicyBook,
): Promise<SweepReport> {
  const { overdue, now } = look
  if (overdue.length === 0) return { overdue: 0, settled: 0, superseded: 0, full: false }
  const settling = overdue.map((item) => settlementFor(engine, item, book, { now, roll: random.next() }))
  const results = await engine.settle(await Promise.all(settling))
  const settled = results.filter((result) => result.outcome === 'settled' && !result.repeated).length
  return {
    overdue: overdue.length,
    settled,
    superseded: results.length - settled,
    full: overdue.length >= BATCH_MAX,
  }
}

async function settlementFor(
  engine: SweepingEngine,
  item: Overdue,
  book: PolicyBook,
  circumstances: Circumstances,
): Promise<Settlement> {
  switch (item.kind) {
    case 'lease': {
      const { failure, decision, guards } = await judgeLease(engine, item, book, circumstances)
      return lost(item.ref, failure, decision, guards)
    }
    case 'timeout': {
      const allowed = formatDuration(item.snapshot.settings.timeoutMs)
      const message = `The attempt ran past its timeout of ${allowed} and was not ended.`
      const { failure, decision, guards } = judgeObserved(book, item, { reason: 'timeout', message }, circumstances)
      return failed(item.ref, failure, decision, guards)
    }
    case 'undelivered':
      // It never began: nothing is charged, and it keeps its place.
      return released(item.ref, 'The worker went silent, or did not pass it on or collect it in time.')
    case 'queue_ttl':
    case 'deadline': {
      const { failure, decision, guards } = judgeInQueue(item, book, circumstances)
      return expired(item.ref, failure, decision, guards)
    }
  }
}

/** A task is a crash loop by its crashes alone. */
async function judgeLease(
  engine: SweepingEngine,
  item: Overdue,
  book: PolicyBook,
  circumstances: Circumstances,
): Promise<Judgement> {
  const words = 'The worker stopped renewing its lease.'
  const judgement = judgeLost(book, item, words, circumstances)
  const { decision } = judgement
  if (decision.kind !== 'dead' || decision.reason !== 'crash_loop') return judgement
  const excused = await excusedLosses(engine, item.ref.taskId, item.generation)
  if (excused === 0) return judgement
  return judgeLost(book, { ...item, losses: Math.max(item.losses - excused, 0) }, words, circumstances)
}

function judgeInQueue(
  item: Overdue & { readonly kind: 'queue_ttl' | 'deadline' },
  book: PolicyBook,
  circumstances: Circumstances,
): Judgement {
  if (item.kind === 'deadline') {
    const message = 'Its deadline passed while it stood in the queue.'
    return judgeObserved(book, item, { reason: 'deadline', message }, circumstances)
  }
  const allowed = formatDuration(item.snapshot.settings.queueTtlMs ?? 0)
  const message = `It stood in the queue for longer than its TTL of ${allowed}.`
  return judgeObserved(book, item, { reason: 'queue_timeout', message }, circumstances)
}
