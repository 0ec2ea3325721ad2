// Claim and reserve: how an attempt begins. Both end in start(), the one place that reserves an attempt and opens a lease;
// what was assigned to a worker has an attempt already, and is only collected.

import {
  BudgetExhaustedError,
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  ConflictError,
  DuplicateExecutionError,
  type PoolName,
  type ReserveRequest,
  TaskConflictError,
  type TaskSpec,
  TIMEOUT_GRACE_MS,
  type WorkerId,
} from '@reprise/core'
import {
  attemptCeiling,
  PICKS_PER_OLDEST,
  PROMOTE_MAX,
  PROMOTE_REST_MS,
  PROMOTE_REST_READY,
  RETIRE_MAX,
  taskDifferences,
} from '@reprise/core/engine'
import { avoidedUntil } from './avoid.ts'
import { nextProbeAt, tellTime } from './breakers.ts'
import { checkLeaseMs, checkLimit, checkWhole } from './checks.ts'
import { claimedOf, collect } from './dispatch.ts'
import { note, tally } from './journal.ts'
import { checkSlot, claimableIn, enqueue, hasRoom, overdueSince, virtualTime } from './lane.ts'
import { buildOf, claimHealth, currentWorker, heard } from './registry.ts'
import { type Lane, nextToken, type State, type TaskRecord, type WorkerRecord } from './state.ts'
import { accept, holderOf } from './submit.ts'

type Stage = NonNullable<ClaimRequest['stage']>

export function claim(state: State, request: ClaimRequest): ClaimResult {
  const limit = checkLimit(request.limit)
  checkLeaseMs(request.leaseMs)
  const worker = currentWorker(state, request.worker, request.epoch)
  tellTime(state)
  const health = claimHealth(state, worker, request.regardless === true)
  const most = { healthy: limit, degraded: Math.min(limit, state.healthThresholds.maxDegradedClaim), unhealthy: 0 }
  const allowed = most[health]
  const stage = request.stage ?? 'run'
  const collected = stage === 'run' ? collect(state, request, allowed) : []
  promoteDue(state, request.pools)
  const { taken, avoided } = takeEntries(state, request, worker, allowed - collected.length)
  const claimed = [...collected, ...taken]
  if (claimed.length > 0) heard(state, worker)
  const times = [...request.pools.map((pool) => nextPromotionAt(state, pool)), nextProbeAt(state), ...avoided]
  const known = times.filter((at) => at !== undefined && at !== null)
  return {
    claimed,
    nextDueAt: known.length === 0 ? null : Math.min(...known),
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

/** Of pools that do not rest. Those with more that is due rest now, if there is much to claim where it was promoted to. */
function promoteDue(state: State, pools: readonly PoolName[]): void {
  const ready = pools.filter((pool) => !isResting(state, pool))
  const dueIn = (some: readonly PoolName[]) => waitingIn(state, some).filter(({ dueAt }) => dueAt <= state.now)
  const promoted = dueIn(ready).slice(0, PROMOTE_MAX)
  for (const { task } of promoted) enqueue(state, task, 'at the end')
  for (const pool of ready) {
    const lanes = new Set(promoted.flatMap(({ task: { lane } }) => (lane.pool === pool ? [lane] : [])))
    const claimable = [...lanes].reduce((sum, lane) => sum + claimableIn(state, lane).length, 0)
    if (claimable >= PROMOTE_REST_READY && dueIn([pool]).length > 0) state.promotedAt.set(pool, state.now)
  }
}

function isResting(state: State, pool: PoolName): boolean {
  const at = state.promotedAt.get(pool)
  return at !== undefined && state.now >= at && state.now < at + PROMOTE_REST_MS
}

/** When a claim can promote the first of what waits in a pool. */
function nextPromotionAt(state: State, pool: PoolName): number | null {
  const dueAt = waitingIn(state, [pool])[0]?.dueAt
  if (dueAt === undefined) return null
  if (dueAt > state.now || !isResting(state, pool)) return dueAt
  return (state.promotedAt.get(pool) ?? 0) + PROMOTE_REST_MS
}

interface Taken {
  readonly taken: readonly Claimed[]
  /** When entries that were left to other workers may be had by this one as well. */
  readonly avoided: readonly number[]
}

function takeEntries(state: State, request: ClaimRequest, worker: WorkerRecord, limit: number): Taken {
  const stage = request.stage ?? 'run'
  // Turns of different pools are compared by their distance from the virtual time at which this claim began.
  const timesAtStart = new Map(state.lanes.map((lane) => [lane, virtualTime(state, lane)]))
  const distance = (lane: Lane): number => lane.turn - (timesAtStart.get(lane) ?? 0)
  const avoidedBy = (task: TaskRecord): number | null => (stage === 'run' ? avoidedUntil(state, task, worker) : null)
  const taken: Claimed[] = []
  const avoided: number[] = []
  const spent = new Set<Lane>()
  let retired = 0
  while (taken.length < limit && retired < RETIRE_MAX) {
    const lane = state.lanes
      .filter((candidate) => !spent.has(candidate) && mayGive(state, candidate, request))
      .reduce<Lane | null>((best, next) => (best === null || distance(next) < distance(best) ? next : best), null)
    if (lane === null) break
    const task = nextEntry(state, lane, avoidedBy, avoided)
    if (task === null) {
      spent.add(lane)
    } else if (overdueSince(state, task) === null) {
      state.virtualTimes.set(lane.pool, Math.max(virtualTime(state, lane), lane.turn))
      lane.turn++
      lane.picks++
      taken.push(start(state, task, request.worker, request.leaseMs, stage))
    } else if (task.state.status === 'queued') {
      task.state = { ...task.state, retired: true }
      retired++
    }
  }
  return { taken, avoided }
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

/**
 * The highest priority first, then the order of entry; now and then the oldest of all, so that nothing starves. What the
 * worker should avoid is passed over, unless it is past its time; null if there is nothing else.
 */
function nextEntry(
  state: State,
  lane: Lane,
  avoidedBy: (task: TaskRecord) => number | null,
  avoided: number[],
): TaskRecord | null {
  const byRank = claimableIn(state, lane).sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
  const isOldestTurn = lane.picks % PICKS_PER_OLDEST === PICKS_PER_OLDEST - 1
  const inOrder = isOldestTurn ? byRank : byRank.sort((a, b) => b.snapshot.priority - a.snapshot.priority)
  for (const task of inOrder) {
    const until = overdueSince(state, task) === null ? avoidedBy(task) : null
    if (until === null) return task
    avoided.push(until)
  }
  return null
}

function start(state: State, task: TaskRecord, worker: WorkerId, leaseMs: number, stage: Stage): Claimed {
  const { now } = state
  const { snapshot, retryReason } = task
  const attempt = ++task.attempt
  const token = nextToken(state)
  const timeoutAt = now + snapshot.settings.timeoutMs
  const leaseUntil = stage === 'dispatch' ? now + leaseMs : Math.min(now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS)
  const lease = { attempt, worker, token, startedAt: now, leaseUntil, timeoutAt, stage }
  task.state = { status: 'running', ...lease, progress: null, handle: null }
  task.renewedAt = null
  task.executions.set(attempt, {
    taskId: snapshot.id,
    attempt,
    generation: task.generation,
    worker,
    build: buildOf(state, worker, stage),
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
  return claimedOf(task)
}

/**
 * One attempt that an outside message names. When it is refused, nothing is written but the note on a dropped message, and
 * what time has made of the breakers if only a slot is missing.
 */
export function reserve(state: State, request: ReserveRequest): Claimed {
  const { task: spec, worker } = request
  const attempt = checkWhole(request.attempt, 'attempt', 1, Number.MAX_SAFE_INTEGER)
  checkLeaseMs(request.leaseMs)
  const known = state.tasks.get(spec.id)
  if (known !== undefined) refuseOther(known, spec)
  const behind = known?.attempt ?? attempt - 1
  const settings = known?.snapshot.settings ?? spec.settings
  const ceiling =
    (known?.attemptsBefore ?? 0) +
    attemptCeiling(settings, request.maxRetries) +
    (known?.losses ?? 0) +
    (known?.parks ?? 0)
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
  const keyHolder = known === undefined ? holderOf(state, spec) : null
  if (keyHolder !== null) refuseOther(keyHolder, spec)
  if (attempt <= behind || hasEnded || keyHolder !== null) throw new DuplicateExecutionError(spec.id, attempt)
  if (status === 'running' || attempt > behind + 1) {
    throw new ConflictError(`Task '${spec.id}' can't start attempt ${attempt} now: it is at attempt ${behind}.`)
  }
  tellTime(state)
  checkSlot(state, known?.snapshot ?? spec)
  const task = known ?? accept(state, spec, attempt - 1)
  // Its place in the queue, should it be released, is that of a task that came now.
  if (task.state.status !== 'queued') task.rank = ++state.rankLast
  if (task.state.status === 'dead') task.retryReason = 'manual'
  return start(state, task, worker, request.leaseMs, request.stage ?? 'run')
}

/** A message that asks for something else under an id or a key that is taken. */
function refuseOther({ snapshot }: TaskRecord, spec: TaskSpec): void {
  const differs = taskDifferences(snapshot, spec)
  if (differs.length > 0) throw new TaskConflictError(snapshot.id, differs)
}
