// Decisions for the random runs: core's own, with a fixed roll, so that both sides settle with the same.

import {
  type Claimed,
  type Decision,
  decideFailed,
  expired,
  type Failure,
  failed,
  type Guards,
  type Launch,
  lost,
  type Overdue,
  observedFailure,
  released,
  type Settlement,
} from '@reprise/core'
import { decideLost } from '@reprise/core/engine'
import { evidenceOf } from './draft.ts'

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
export function sweepSettlement(
  overdue: Overdue,
  timeoutsAs: 'failed' | 'lost',
  now: number,
  guards: Pick<Guards, 'quota'> = {},
): Settlement {
  const { action } = overdue.snapshot
  switch (overdue.kind) {
    case 'lease': {
      const failure = observedFailure('worker_lost', 'The worker stopped renewing.', action)
      return lost(overdue.ref, failure, decisionFor('lost', overdue, failure, now), guards)
    }
    case 'undelivered':
      return released(overdue.ref, 'nobody collected it')
    case 'timeout': {
      const failure = observedFailure('timeout', 'The attempt ran past its time-out.', action)
      const decision = decisionFor(timeoutsAs, overdue, failure, now)
      if (timeoutsAs === 'lost') return lost(overdue.ref, failure, decision, guards)
      return failed(overdue.ref, failure, decision, { ...guards, ...evidenceOf(failure, overdue.snapshot) })
    }
    case 'queue_ttl':
    case 'deadline': {
      const failure = observedFailure(
        overdue.kind === 'deadline' ? 'deadline' : 'queue_timeout',
        'It stood in the queue for too long.',
        action,
      )
      return expired(overdue.ref, failure, decisionFor('expired', overdue, failure, now), guards)
    }
  }
}

/** What the launch service makes of a launch whose lease has ended; nothing of one that still lives. */
export function launchSettlement(launch: Launch, now: number, gone: boolean): Settlement[] {
  if (launch.leaseUntil > now && !gone) return []
  const { taskId, attempt, token } = launch
  const failure = observedFailure('worker_lost', 'Its worker is gone.', launch.snapshot.action)
  return [lost({ taskId, attempt, token }, failure, decisionFor('lost', launch, failure, now), { gone })]
}
