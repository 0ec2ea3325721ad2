// The life of a lease between its beginning and its end: who holds it, why somebody does not hold it any more, and how it
// is renewed. Every write about a lease is fenced by (task, attempt, token).

import {
  type AttemptLog,
  type LeaseRef,
  type LeaseToken,
  type RenewRequest,
  type RenewResult,
  type Settlement,
  type SupersededBecause,
  TIMEOUT_GRACE_MS,
  type VouchRequest,
  type WorkerBuild,
  type WorkerId,
} from '@reprise/core'
import { attemptLogText, LOG_ATTEMPTS_MAX, type VouchResult } from '@reprise/core/engine'
import { checkBatch, checkLeaseMs } from './checks.ts'
import { nextToken, type State, type TaskRecord } from './state.ts'

export type Running = Extract<TaskRecord['state'], { readonly status: 'running' }>

export interface Held {
  readonly task: TaskRecord
  readonly running: Running
}

export function heldLease(state: State, ref: LeaseRef): Held | null {
  const task = state.tasks.get(ref.taskId)
  if (task?.state.status !== 'running') return null
  const isHeld = task.state.attempt === ref.attempt && task.state.token === ref.token
  return isHeld ? { task, running: task.state } : null
}

/** Why a lease or an entry is no longer what the caller thinks. */
export function causeFor(state: State, ref: Settlement['ref']): SupersededBecause {
  const task = state.tasks.get(ref.taskId)
  const execution = task?.executions.get(ref.attempt)
  if (execution !== undefined) return execution.status === 'running' ? 'replaced' : execution.status
  return task !== undefined && task.attempt < ref.attempt ? 'released' : 'unknown'
}

export function renew(state: State, leases: readonly RenewRequest[], leaseMs: number): readonly RenewResult[] {
  checkBatch(leases, 'leases')
  checkLeaseMs(leaseMs)
  for (const { log } of leases) if (log !== undefined) attemptLogText(log)
  return leases.map((lease) => {
    const held = heldLease(state, lease)
    if (held === null) return { outcome: 'superseded', because: causeFor(state, lease) }
    const { task, running } = held
    const { timeoutAt, asked } = extension(state, held, leaseMs)
    const leaseUntil = Math.max(running.leaseUntil, asked)
    const progress = lease.progress ?? running.progress
    const handle = lease.handle ?? running.handle
    task.state = { ...running, leaseUntil, timeoutAt, progress, handle }
    task.renewedAt = state.now
    if (lease.log !== undefined) keepLog(task, running.attempt, lease.log)
    return { outcome: 'extended', leaseUntil }
  })
}

/** Renews what the worker runs, and notes its outlook. */
export function vouch(state: State, { worker, epoch, leaseMs, outlook }: VouchRequest): VouchResult {
  checkLeaseMs(leaseMs)
  const record = state.workers.get(worker)
  if (record?.epoch !== epoch) return { renewed: 0 }
  record.outlook = outlook
  let renewed = 0
  for (const task of state.tasks.values()) {
    const { state: running } = task
    if (running.status !== 'running' || running.stage !== 'run' || running.worker !== worker) continue
    const { timeoutAt, asked } = extension(state, { task, running }, leaseMs)
    task.state = { ...running, leaseUntil: Math.max(running.leaseUntil, asked), timeoutAt }
    task.renewedAt = state.now
    renewed++
  }
  return { renewed }
}

/** Those of attempts that are too long ago go. */
function keepLog({ logs }: TaskRecord, attempt: number, log: AttemptLog): void {
  logs.set(attempt, log)
  for (const other of logs.keys()) if (other <= attempt - LOG_ATTEMPTS_MAX) logs.delete(other)
}

function extension({ now }: State, { task, running }: Held, leaseMs: number) {
  if (isUnderWay(running)) return { timeoutAt: running.timeoutAt, asked: now + leaseMs }
  const missedMs = Math.max(now - (task.renewedAt ?? running.startedAt) - leaseMs, 0)
  const timeoutAt = running.timeoutAt + missedMs
  return { timeoutAt, asked: Math.min(now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS) }
}

/** On its way to a worker: nothing of it runs yet. */
export const isUnderWay = ({ stage }: Running): boolean => stage === 'dispatch' || stage === 'inbox'

/** Puts a running task under a new token, which its execution shows too. */
export function retoken(
  state: State,
  task: TaskRecord,
  changes: Partial<Pick<Running, 'worker' | 'stage' | 'startedAt' | 'leaseUntil' | 'timeoutAt'>>,
  build?: WorkerBuild | null,
): LeaseToken {
  const { state: running } = task
  const execution = task.executions.get(task.attempt)
  if (running.status !== 'running' || execution === undefined) throw new Error('Only a running task has a token.')
  const token = nextToken(state)
  const next = { ...running, ...changes, token }
  task.state = next
  const worker: WorkerId = next.worker
  task.executions.set(execution.attempt, {
    ...execution,
    token,
    worker,
    build: build === undefined ? execution.build : build,
    dispatchedAt: next.startedAt,
  })
  return token
}
