// Decisions for the random runs: core's own, with a fixed roll, so that both sides settle with the same.

import {
  type Claimed,
  type Decision,
  decideFailed,
  decideLost,
  type Failure,
  type Overdue,
  observedFailure,
  type Settlement,
} from '@reprise/core'

const ROLL = 0.5

type Facts = Pick<Claimed, 'snapshot' | 'failures' | 'losses'> & { readonly generation?: number }

export function decisionFor(
  kind: 'failed' | 'lost' | 'expired',
  facts: Facts,
  failure: Failure,
  now: number,
): Decision {
  const { snapshot, failures, losses, generation } = facts
  const decide = kind === 'lost' ? decideLost : decideFailed
  return decide({
    settings: snapshot.settings,
    spent: { failures, losses },
    // The deadline binds the first generation only.
    deadlineAt: generation === undefined || generation === 1 ? snapshot.deadlineAt : null,
    failure,
    now,
    roll: ROLL,
  })
}

/** What a sweep makes of something past its time. */
export function sweepSettlement(overdue: Overdue, timeoutsAs: 'failed' | 'lost', now: number): Settlement {
  const { action } = overdue.snapshot
  switch (overdue.kind) {
    case 'lease': {
      const failure = observedFailure('worker_lost', 'The worker stopped renewing.', action)
      return { kind: 'lost', ref: overdue.ref, failure, decision: decisionFor('lost', overdue, failure, now) }
    }
    case 'timeout': {
      const failure = observedFailure('timeout', 'The attempt ran past its time-out.', action)
      return { kind: timeoutsAs, ref: overdue.ref, failure, decision: decisionFor(timeoutsAs, overdue, failure, now) }
    }
    case 'queue_ttl':
    case 'deadline': {
      const failure = observedFailure(
        overdue.kind === 'deadline' ? 'deadline' : 'queue_timeout',
        'It stood in the queue for too long.',
        action,
      )
      return { kind: 'expired', ref: overdue.ref, failure, decision: decisionFor('expired', overdue, failure, now) }
    }
  }
}
