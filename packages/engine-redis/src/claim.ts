// The claim, alone and together with settling: one script call. Leases are told apart by a request id, so that a call
// whose answer was lost can be repeated and answers with the same leases.

import {
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  type HealthStatus,
  type LeaseToken,
  NotFoundError,
  type Settlement,
  StoreFailedError,
  type TaskId,
  TIMEOUT_GRACE_MS,
  WorkerFencedError,
} from '@reprise/core'
import { checkBatch, checkLeaseMs, checkLimit, checkSettlements } from '@reprise/core/engine'
import { BLOCKED_ROW, CLAIM, ordered, records, STAGE_LETTERS } from './layout.ts'
import { type Reply, ScriptRefusal } from './link/link.ts'
import { asList, asTexts, type Partition, scopeName } from './partition.ts'
import { CLAIMED_PLAIN, parseState, parseText, snapshotOf, spentOf } from './records.ts'
import { claimScript, settleAndClaimScript } from './scripts.generated.ts'
import { type Settled, settledOf, settlementArguments } from './settle.ts'

/** A part of a shared limit that is full, while lanes of the asked pools stand at it. */
export interface Blocked {
  /** The limit's scope, as scripts spell it. */
  readonly scope: string
  /** Pool and action of such a lane, in two lines. */
  readonly lane: string
  readonly version: number
}

/** A claim, and how the asked pools stood when it was made, and after them the worker's inbox: see wake.ts. */
export interface PartitionClaim extends ClaimResult {
  readonly versions: readonly string[]
  /** Of a store with several partitions only. */
  readonly blocked: readonly Blocked[]
}

/** `health`, in a store with several partitions: the worker's, judged by what all of them saw. */
export async function claim(
  partition: Partition,
  request: ClaimRequest,
  health?: HealthStatus,
): Promise<PartitionClaim> {
  try {
    return await partition.unheardClaims.claim(request, partition.drawRequestId, async (requestId) => {
      const reply = await partition.run(claimScript, claimArguments(partition, request, requestId, health))
      return claimResult(partition, reply, request)
    })
  } catch (error) {
    if (!(error instanceof ScriptRefusal)) throw error
    if (error.message === 'fenced') throw new WorkerFencedError(request.worker, request.epoch)
    if (error.message === 'unknown') {
      partition.forget()
      throw new NotFoundError('worker', request.worker)
    }
    throw new StoreFailedError(`A claim was refused: ${error.message}`)
  }
}

export async function settleAndClaim(
  partition: Partition,
  settlements: readonly Settlement[],
  request: ClaimRequest,
  health?: HealthStatus,
): Promise<{ readonly settled: readonly Settled[] } & PartitionClaim> {
  checkBatch(settlements.length)
  checkSettlements(settlements)
  const settling = settlementArguments(settlements, partition.position)
  return partition.unheardClaims.claim(request, partition.drawRequestId, async (requestId) => {
    const claiming = claimArguments(partition, request, requestId, health)
    const reply = asList(
      await partition.run(settleAndClaimScript, [String(settling.length + 3), ...settling, ...claiming]),
    )
    const result = await claimResult(partition, reply[1], request)
    return { settled: settledOf(asList(reply[0])), ...result }
  })
}

function claimArguments(
  { thresholdsText }: Partition,
  request: ClaimRequest,
  requestId: string,
  health: HealthStatus | undefined,
): string[] {
  const { worker, epoch, pools, actions, limit, leaseMs } = request
  checkLimit(limit)
  checkLeaseMs(leaseMs)
  return [
    ...ordered(CLAIM, {
      worker,
      workerJson: JSON.stringify(worker),
      epoch: String(epoch),
      limit: String(limit),
      leaseMs: String(leaseMs),
      thresholds: thresholdsText,
      id: requestId,
      stage: STAGE_LETTERS[request.stage ?? 'run'],
    }),
    String(pools.length),
    ...pools,
    ...(actions === null ? ['-1'] : [String(actions.length), ...actions]),
    ...(request.regardless === true ? ['any'] : health === undefined ? [] : [health]),
  ]
}

const FIELDS_BEFORE_TASKS = 5
/** What a field starts with that says something unusual about the task after it. No id does. */
const UNUSUAL = '\n'

export async function claimResult(
  partition: Partition,
  reply: Reply | undefined,
  { leaseMs, worker, stage }: Pick<ClaimRequest, 'leaseMs' | 'worker' | 'stage'>,
): Promise<PartitionClaim> {
  const fields = asTexts(reply)
  const now = Number(fields[0])
  const [draw = '', beginning] = (fields[4] ?? '').split(' ')
  if (beginning !== undefined) partition.witness.saw(Number(draw), now, beginning)
  const parts = []
  for (let at = FIELDS_BEFORE_TASKS; at < fields.length; at += 2) {
    const unusual = fields[at]?.startsWith(UNUSUAL) === true ? (fields[at++] ?? '') : ''
    const { head, payload } = parseText(fields[at + 1] ?? '')
    parts.push({ id: fields[at] ?? '', unusual, head, payload })
  }
  const names = await partition.learn(parts.map(({ head }) => head))
  const claimed = parts.map(({ id, unusual, head, payload }, index): Claimed => {
    const [, token = '', stateText = ''] =
      unusual === '' ? ['', `${draw}-${index + 1}.${head.lane}`] : unusual.split(UNUSUAL)
    const state = stateText === '' ? CLAIMED_PLAIN : parseState(stateText)
    const snapshot = snapshotOf(names, id, head, payload)
    const timeoutAt = now + snapshot.settings.timeoutMs
    return {
      taskId: id as TaskId,
      attempt: state.attempt,
      token: `${token}.${worker}` as LeaseToken,
      snapshot,
      ...spentOf(state),
      retryReason: state.retryReason ?? null,
      acceptedAt: head.acceptedAt,
      startedAt: now,
      leaseUntil: stage === 'dispatch' ? now + leaseMs : Math.min(now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS),
      timeoutAt,
    }
  })
  const [versions = '', ...blocked] = (fields[3] ?? '').split('\n')
  return {
    claimed,
    nextDueAt: fields[1] === '' ? null : Number(fields[1]),
    heldBack: fields[2] === 'unhealthy' || fields[2] === 'degraded' ? fields[2] : null,
    now,
    versions: versions.split(' '),
    blocked: records(BLOCKED_ROW, blocked).map((row) => ({
      scope: scopeName(row),
      lane: `${row.lanePool}\n${row.laneAction}`,
      version: Number(row.version),
    })),
  }
}
