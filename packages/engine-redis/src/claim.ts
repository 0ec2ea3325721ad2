// The claim, alone and together with settling: one script call. Leases are told apart by a request id, so that a call
// whose answer was lost can be repeated and answers with the same leases.

import {
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  type HealthThresholds,
  type LeaseToken,
  NotFoundError,
  type Settlement,
  type SettleResult,
  StoreFailedError,
  type TaskId,
  TIMEOUT_GRACE_MS,
  WorkerFencedError,
} from '@reprise/core'
import { checkBatch, checkLeaseMs, checkLimit } from './checks.ts'
import { type Reply, ScriptRefusal } from './link/link.ts'
import { asList, asTexts, type Partition } from './partition.ts'
import { CLAIMED_PLAIN, parseState, parseText, snapshotOf } from './records.ts'
import { claimScript, settleAndClaimScript } from './scripts.generated.ts'
import { settlementArguments, settleResults } from './settle.ts'

/** Names one call, so that its repetition is known as such. */
export type DrawRequestId = () => string

/** A claim, and how the asked pools stood when it was made: see wake.ts. */
export interface PartitionClaim extends ClaimResult {
  readonly versions: readonly string[]
}

export interface ClaimSettings {
  readonly thresholds: HealthThresholds
  readonly drawRequestId: DrawRequestId
}

export async function claim(
  partition: Partition,
  request: ClaimRequest,
  settings: ClaimSettings,
): Promise<PartitionClaim> {
  const args = claimArguments(request, settings)
  try {
    return await claimResult(partition, await partition.run(claimScript, args), request)
  } catch (error) {
    if (!(error instanceof ScriptRefusal)) throw error
    if (error.message === 'fenced') throw new WorkerFencedError(request.worker, request.epoch)
    if (error.message === 'unknown') throw new NotFoundError('worker', request.worker)
    throw new StoreFailedError(`A claim was refused: ${error.message}`)
  }
}

export async function settleAndClaim(
  partition: Partition,
  settlements: readonly Settlement[],
  request: ClaimRequest,
  settings: ClaimSettings,
): Promise<{ readonly settled: readonly SettleResult[] } & PartitionClaim> {
  checkBatch(settlements.length)
  const claiming = claimArguments(request, settings)
  const settling = settlementArguments(settlements)
  const reply = asList(
    await partition.run(settleAndClaimScript, [String(settling.length + 3), ...settling, ...claiming]),
  )
  const result = await claimResult(partition, reply[1], request)
  return { settled: settleResults(asList(reply[0])), ...result }
}

function claimArguments(request: ClaimRequest, settings: ClaimSettings): string[] {
  const { worker, epoch, pools, actions, limit, leaseMs } = request
  checkLimit(limit)
  checkLeaseMs(leaseMs)
  return [
    worker,
    JSON.stringify(worker),
    String(epoch),
    String(limit),
    String(leaseMs),
    thresholdsText(settings.thresholds),
    settings.drawRequestId(),
    String(pools.length),
    ...pools,
    ...(actions === null ? ['-1'] : [String(actions.length), ...actions]),
  ]
}

const thresholdsTexts = new WeakMap<HealthThresholds, string>()

function thresholdsText(thresholds: HealthThresholds): string {
  const known = thresholdsTexts.get(thresholds) ?? JSON.stringify(thresholds)
  thresholdsTexts.set(thresholds, known)
  return known
}

const FIELDS_PER_TASK = 4
const FIELDS_BEFORE_TASKS = 4

export async function claimResult(
  partition: Partition,
  reply: Reply | undefined,
  { leaseMs, worker }: Pick<ClaimRequest, 'leaseMs' | 'worker'>,
): Promise<PartitionClaim> {
  const fields = asTexts(reply)
  const now = Number(fields[0])
  const texts = []
  for (let at = FIELDS_BEFORE_TASKS; at < fields.length; at += FIELDS_PER_TASK)
    texts.push(parseText(fields[at + 2] ?? ''))
  await partition.learn(texts.map(({ head }) => head))
  const claimed = texts.map(({ head, payload }, index): Claimed => {
    const at = FIELDS_BEFORE_TASKS + index * FIELDS_PER_TASK
    const id = fields[at] ?? ''
    const stateText = fields[at + 3] ?? ''
    const state = stateText === '' ? CLAIMED_PLAIN : parseState(stateText)
    const snapshot = snapshotOf(partition, id, head, payload)
    const timeoutAt = now + snapshot.settings.timeoutMs
    return {
      taskId: id as TaskId,
      attempt: state.attempt,
      token: `${fields[at + 1] ?? ''}.${worker}` as LeaseToken,
      snapshot,
      generation: state.generation,
      failures: state.failures,
      losses: state.losses,
      retryReason: state.retryReason ?? null,
      acceptedAt: head.acceptedAt,
      startedAt: now,
      leaseUntil: Math.min(now + leaseMs, timeoutAt + TIMEOUT_GRACE_MS),
      timeoutAt,
    }
  })
  return {
    claimed,
    nextDueAt: fields[1] === '' ? null : Number(fields[1]),
    heldBack: fields[2] === 'unhealthy' || fields[2] === 'degraded' ? fields[2] : null,
    now,
    versions: (fields[3] ?? '').split(' '),
  }
}
