// The list of what is past its time, for sweeps. It only looks.

import { type ExpiredResult, type Overdue, present } from '@reprise/core'
import { checkLimit } from './checks.ts'
import { overdueSince } from './lane.ts'
import { isUnderWay, type Running } from './leases.ts'
import type { State, TaskRecord } from './state.ts'

/** Leases first, then queue entries, each by how long they are overdue. */
export function expired(state: State, limit: number): ExpiredResult {
  checkLimit(limit)
  const leases: Overdue[] = []
  const entries: Overdue[] = []
  for (const task of state.tasks.values()) {
    const lease = overdueLease(state, task)
    if (lease !== null) leases.push(lease)
    const overdue = overdueSince(state, task)
    if (overdue !== null) {
      const ref = { taskId: task.snapshot.id, attempt: task.attempt + 1 }
      entries.push({ ...overdue, ref, ...factsOf(task), startedAt: null })
    }
  }
  const bySince = (a: Overdue, b: Overdue): number => a.since - b.since
  return { overdue: [...leases.sort(bySince), ...entries.sort(bySince)].slice(0, limit), now: state.now }
}

const factsOf = ({ snapshot, generation, failures, losses, parks, deferrals, policy, acceptedAt }: TaskRecord) => ({
  snapshot,
  generation,
  failures,
  losses,
  parks,
  deferrals,
  ...present({ policy }),
  acceptedAt,
})

function overdueLease(state: State, task: TaskRecord): Overdue | null {
  // Leases of stage `launch` are for the launch service: it alone can tell whether their workers live.
  if (task.state.status !== 'running' || task.state.stage === 'launch') return null
  const since = isUnderWay(task.state) ? undeliveredSince(state, task.state) : task.state.leaseUntil
  if (since === null || (!isUnderWay(task.state) && since > state.now)) return null
  const { attempt, token, worker, startedAt, timeoutAt } = task.state
  const ref = { taskId: task.snapshot.id, attempt, token }
  const isStuck = task.renewedAt !== null && task.renewedAt >= timeoutAt
  const kind = isUnderWay(task.state) ? 'undelivered' : isStuck ? 'timeout' : 'lease'
  return { kind, ref, worker, ...factsOf(task), startedAt, since }
}

/** Since when nobody collected it; null if it may still be. */
function undeliveredSince(state: State, { stage, worker, leaseUntil }: Running): number | null {
  if (stage === 'inbox') {
    const holder = state.workers.get(worker)
    if (holder === undefined) return leaseUntil
    const staleAt = holder.lastBeatAt + state.healthThresholds.heartbeatStaleMs
    if (staleAt <= state.now) return Math.min(staleAt, leaseUntil)
  }
  return leaseUntil <= state.now ? leaseUntil : null
}
