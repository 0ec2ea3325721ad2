// Claim and reserve: how an attempt begins. Both end in start(), the one place that reserves an attempt and opens a lease.

import {
  attemptCeiling,
  BudgetExhaustedError,
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  ConflictError,
  DuplicateExecutionError,
  PICKS_PER_OLDEST,
  type PoolName,
  PROMOTE_MAX,
  RETIRE_MAX,
  type ReserveRequest,
  TIMEOUT_GRACE_MS,
  type WorkerId,
} from '@reprise/core'
import { checkLeaseMs, checkLimit, checkWhole } from './checks.ts'
import { note, tally } from './journal.ts'
import { checkSlot, claimableIn, enqueue, hasRoom, overdueSince, virtualTime } from './lane.ts'
import { claimHealth, currentWorker } from './registry.ts'
import { type Lane, nextToken, type State, type TaskRecord } from './state.ts'
import { accept, holderOf } from './submit.ts'

export function claim(state: State, request: ClaimRequest): ClaimResult {
  const limit = checkLimit(request.limit)
  checkLeaseMs(request.leaseMs)
  const worker = currentWorker(state, request.worker, request.epoch)
  const health = claimHealth(state, worker)
  const allowed = { healthy: limit, degraded: Math.min(limit, state.healthThresholds.degradedClaimMax), unhealthy: 0 }
  promoteDue(state, request.pools)
  const claimed = takeEntries(state, request, allowed[health])
  if (claimed.length > 0) worker.lastBeatAt = state.now
  return {
    claimed,
    nextDueAt: waitingIn(state, request.pools)[0]?.dueAt ?? null,
    heldBack: health === 'healthy' ? null : health,
    now: state.now,
  }
}

/** The delay queue of some pools, in the order in which it comes due. */
function waitingIn(state: State, pools: readonly PoolName[]): { readonly task: TaskRecord; readonly dueAt: number }[] {
  return [...state.tasks.values()]
    .flatMap((task) =>
      task.state.status === 'waiting' && pools.includes(task.lane.pool) ? [{ task, dueAt: task.state.dueAt }] : [],
    )
    .sort((a, b) => a.dueAt - b.dueAt || a.task.seq - b.task.seq)
}

function promoteDue(state: State, pools: readonly PoolName[]): void {
  const due = waitingIn(state, pools).filter(({ dueAt }) => dueAt <= state.now)
  for (const { task } of due.slice(0, PROMOTE_MAX)) enqueue(state, task, 'at the end')
}

function takeEntries(state: State, request: ClaimRequest, limit: number): Claimed[] {
  // Turns of different pools are compared by their distance from the virtual time at which this claim began.
  const timesAtStart = new Map(state.lanes.map((lane) => [lane, virtualTime(state, lane)]))
  const distance = (lane: Lane): number => lane.turn - (timesAtStart.get(lane) ?? 0)
  const claimed: Claimed[] = []
  let retired = 0
  while (claimed.length < limit && retired < RETIRE_MAX) {
    const lane = state.lanes
      .filter((candidate) => mayGive(state, candidate, request))
      .reduce<Lane | null>((best, next) => (best === null || distance(next) < distance(best) ? next : best), null)
    if (lane === null) break
    const task = nextEntry(state, lane)
    if (overdueSince(state, task) === null) {
      state.virtualTimes.set(lane.pool, Math.max(virtualTime(state, lane), lane.turn))
      lane.turn++
      lane.picks++
      claimed.push(start(state, task, request.worker, request.leaseMs))
    } else if (task.state.status === 'queued') {
      task.state = { ...task.state, retired: true }
      retired++
    }
  }
  return claimed
}

function mayGive(state: State, lane: Lane, request: ClaimRequest): boolean {
  return (
    request.pools.includes(lane.pool) &&
    (request.actions === null || request.actions.includes(lane.action)) &&
    lane.heldSince === null &&
    claimableIn(state, lane).length > 0 &&
    hasRoom(state, lane)
  )
}

/** The highest priority first, then the order of entry; now and then the oldest of all, so that nothing starves. */
function nextEntry(state: State, lane: Lane): TaskRecord {
  const byRank = claimableIn(state, lane).sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
  const oldest = byRank[0]
  if (oldest === undefined) throw new Error('The lane has nothing claimable.')
  if (lane.picks % PICKS_PER_OLDEST === PICKS_PER_OLDEST - 1) return oldest
  return byRank.reduce((best, next) => (next.snapshot.priority > best.snapshot.priority ? next : best), oldest)
}

function start(state: State, task: TaskRecord, worker: WorkerId, leaseMs: number): Claimed {
  const { now } = state
  const { snapshot, retryReason } = task
  const attempt = ++task.attempt
  const token = nextToken(state)
  const timeoutAt = now + snapshot.settings.timeoutMs
  const leaseUntil = Math.min(now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS)
  task.state = { status: 'running', attempt, worker, token, startedAt: now, leaseUntil, timeoutAt, progress: null }
  task.renewedAt = null
  task.executions.set(attempt, {
    taskId: snapshot.id,
    attempt,
    generation: task.generation,
    worker,
    token,
    dispatchedAt: now,
    retryReason,
    taskSnapshot: snapshot,
    status: 'running',
    resolvedAt: null,
    errorCode: null,
    errorMessage: null,
    failure: null,
    decision: null,
  })
  tally(state, task, 'started')
  const { generation, failures, losses, acceptedAt } = task
  return {
    taskId: snapshot.id,
    attempt,
    token,
    snapshot,
    generation,
    failures,
    losses,
    retryReason,
    acceptedAt,
    startedAt: now,
    leaseUntil,
    timeoutAt,
  }
}

/** One attempt that an outside message names. Nothing but the note on a dropped message is written when it is refused. */
export function reserve(state: State, request: ReserveRequest): Claimed {
  const { task: spec, worker } = request
  const attempt = checkWhole(request.attempt, 'attempt', 1, Number.MAX_SAFE_INTEGER)
  checkLeaseMs(request.leaseMs)
  const known = state.tasks.get(spec.id)
  const behind = known?.attempt ?? attempt - 1
  const settings = known?.snapshot.settings ?? spec.settings
  const ceiling = (known?.attemptsBefore ?? 0) + attemptCeiling(settings, request.maxRetries) + (known?.losses ?? 0)
  if (attempt > ceiling) {
    const error = new BudgetExhaustedError(spec.id, attempt, ceiling)
    const { message } = error
    note(state, {
      type: 'message.dropped',
      taskId: spec.id,
      attempt,
      actor: 'caller',
      reason: message,
      data: { attempt },
    })
    throw error
  }
  const status = known?.state.status
  const hasEnded = status === 'succeeded' || status === 'cancelled' || status === 'discarded'
  const isKeyTaken = known === undefined && holderOf(state, spec) !== null
  if (attempt <= behind || hasEnded || isKeyTaken) throw new DuplicateExecutionError(spec.id, attempt)
  if (status === 'running' || attempt > behind + 1) {
    throw new ConflictError(`Task '${spec.id}' can't start attempt ${attempt} now: it is at attempt ${behind}.`)
  }
  checkSlot(state, known?.snapshot ?? spec)
  const task = known ?? accept(state, spec, attempt - 1)
  // Its place in the queue, should it be released, is that of a task that came now.
  if (task.state.status !== 'queued') task.rank = ++state.rankLast
  if (task.state.status === 'dead') task.retryReason = 'manual'
  return start(state, task, worker, request.leaseMs)
}
