// Settling: the end of attempts. Many that succeeded take three statements together; everything unusual goes one by one.
// Each settlement is fenced by its token against the lease as it stands in this very transaction.

import {
  blamesWorker,
  checkBatch,
  type Decision,
  type Failure,
  type Settlement,
  type SettleResult,
  type TaskId,
  type WorkerId,
} from '@reprise/core'
import { becauseOf, endedAttempt, overdueKind, repeated, rest } from './ending.ts'
import { addOutcomes } from './registry.ts'
import { EXECUTION_STATUS, type LeaseRow, parseToken, RETIRED_PLACE, statusOf, type TaskRow } from './rows.ts'
import type { Transaction } from './transaction.ts'

/** A row of leasesOf, in column order. */
type LeaseOfRow = readonly [seq: number, attempt: number, token: number, worker: number, id: TaskId, lane: number]
type Succeeded = Extract<Settlement, { kind: 'succeeded' }>
type OfLease = Exclude<Settlement, { kind: 'expired' }>

export function settle(transaction: Transaction, settlements: readonly Settlement[]): SettleResult[] {
  checkBatch(settlements.length)
  if (settlements.length === 0) return []
  return new Settling(transaction, settlements).run()
}

class Settling {
  readonly #transaction: Transaction
  readonly #settlements: readonly Settlement[]
  /** Succeeded and fenced, by seq; written together at the end. */
  readonly #winners = new Map<number, Succeeded>()
  readonly #outcomes = new Map<WorkerId, boolean[]>()

  constructor(transaction: Transaction, settlements: readonly Settlement[]) {
    this.#transaction = transaction
    this.#settlements = settlements
  }

  run(): SettleResult[] {
    const leases = this.#leasesOfSucceeded()
    const results = this.#settlements.map((settlement) => {
      if (settlement.kind === 'expired') return this.#expire(settlement)
      const parsed = parseToken(settlement.ref.token)
      if (parsed === null) return this.#refuse(settlement)
      const lease = settlement.kind === 'succeeded' ? leases.get(parsed.seq) : undefined
      // The first look is good for one settlement of a task: the next one may find another state.
      leases.delete(parsed.seq)
      if (
        settlement.kind === 'succeeded' &&
        lease !== undefined &&
        !this.#winners.has(parsed.seq) &&
        matches(lease, settlement, parsed.token)
      ) {
        return this.#win(lease, settlement)
      }
      return this.#settleOne(settlement, parsed)
    })
    this.#writeWinners()
    for (const [worker, outcomes] of this.#outcomes) addOutcomes(this.#transaction, worker, outcomes)
    return results
  }

  /** One look for all that say they succeeded, as things stood before this batch. */
  #leasesOfSucceeded(): Map<number, LeaseOfRow> {
    const seqs: number[] = []
    for (const { kind, ref } of this.#settlements) {
      const parsed = kind === 'succeeded' ? parseToken(ref.token) : null
      if (parsed !== null) seqs.push(parsed.seq)
    }
    const leases = new Map<number, LeaseOfRow>()
    if (seqs.length === 0) return leases
    for (const row of this.#transaction.db.arrays<LeaseOfRow>('leasesOf', jsonArray(seqs))) leases.set(row[0], row)
    return leases
  }

  #win(lease: LeaseOfRow, settlement: Succeeded): SettleResult {
    const transaction = this.#transaction
    const [seq, , , worker, id, laneId] = lease
    this.#winners.set(seq, settlement)
    const lane = transaction.lane(laneId)
    transaction.move(lane, 'running', 'succeeded')
    transaction.count(lane, 'succeeded')
    transaction.ended(id)
    this.#outcome(transaction.workerNames.textOf(worker) as WorkerId, true)
    return SETTLED_SUCCEEDED
  }

  #writeWinners(): void {
    if (this.#winners.size === 0) return
    const { db, now } = this.#transaction
    const plain: number[] = []
    for (const [seq, { result }] of this.#winners) {
      if (result === null) plain.push(seq)
      else db.run('recordResult', seq, now, result)
    }
    if (plain.length > 0) db.run('recordSuccesses', jsonArray(plain), now)
    db.run('deleteLeases', jsonArray(this.#winners.keys()))
    this.#winners.clear()
  }

  #settleOne(settlement: OfLease, parsed: { readonly token: number; readonly seq: number }): SettleResult {
    const { ref } = settlement
    // What was decided before in this batch must show.
    if (this.#winners.has(parsed.seq)) this.#writeWinners()
    const lease = this.#transaction.db.get<LeaseRow>('leaseBySeq', parsed.seq)
    if (
      lease === undefined ||
      lease.token !== parsed.token ||
      lease.attempt !== ref.attempt ||
      lease.id !== ref.taskId
    ) {
      return this.#refuse(settlement)
    }
    switch (settlement.kind) {
      case 'succeeded':
        // Reached only when it was not in the first look.
        return this.#win(
          [
            lease.seq,
            lease.attempt,
            lease.token,
            this.#transaction.workerNames.idOf(lease.worker),
            lease.id,
            lease.lane,
          ],
          settlement,
        )
      case 'failed':
        if (blamesWorker(settlement.failure)) this.#outcome(lease.worker, false)
        return this.#endBadly(lease, settlement.kind, settlement.failure, settlement.decision)
      case 'lost':
        if (lease.until > this.#transaction.now) return { outcome: 'superseded', because: 'renewed' }
        return this.#endBadly(lease, settlement.kind, settlement.failure, settlement.decision)
      case 'released':
        return this.#release(lease, settlement.reason)
    }
  }

  #endBadly(lease: LeaseRow, kind: 'failed' | 'lost', failure: Failure, decision: Decision): SettleResult {
    const transaction = this.#transaction
    transaction.db.run('deleteLease', lease.seq)
    const status = rest(
      transaction,
      lease,
      {
        kind,
        from: 'running',
        actor: kind === 'lost' ? 'sweep' : `worker:${lease.worker}`,
        worker: lease.worker,
        token: lease.token,
        dispatchedAt: lease.started_at,
      },
      failure,
      decision,
    )
    return { outcome: 'settled', status, repeated: false }
  }

  #release(lease: LeaseRow, reason: string): SettleResult {
    const transaction = this.#transaction
    const lane = transaction.lane(lease.lane)
    transaction.db.run('deleteLease', lease.seq)
    transaction.move(lane, 'running', 'queued')
    transaction.enqueue(lane, lease, lease.rank, transaction.profiles.settingsOf(lease.profile))
    transaction.journal({
      type: 'execution.released',
      taskId: lease.id,
      attempt: lease.attempt,
      actor: `worker:${lease.worker}`,
      reason,
      data: {},
    })
    return { outcome: 'settled', status: 'queued', repeated: false }
  }

  #expire(settlement: Extract<Settlement, { kind: 'expired' }>): SettleResult {
    const transaction = this.#transaction
    const { taskId, attempt } = settlement.ref
    this.#writeWinners()
    const task = transaction.db.get<TaskRow>('taskById', taskId)
    if (task === undefined) return { outcome: 'superseded', because: 'unknown' }
    const isNext = statusOf(task) === 'queued' && task.attempt + 1 === attempt
    if (!isNext) {
      const ended = endedAttempt(transaction.db, task, attempt)
      if (ended !== undefined && ended.worker === null && EXECUTION_STATUS[ended.status] === 'failed')
        return repeated(ended)
      return { outcome: 'superseded', because: becauseOf(transaction, task, attempt) }
    }
    if (overdueKind(task, transaction.now) === null) return { outcome: 'superseded', because: 'renewed' }
    const lane = transaction.lane(task.lane)
    if (task.place !== RETIRED_PLACE) {
      lane.ready--
      transaction.touch(lane)
    }
    transaction.db.run('deleteReady', task.lane, task.place, task.rank)
    const end = {
      kind: 'expired',
      from: 'queued',
      actor: 'sweep',
      worker: null,
      token: transaction.nextToken(),
      dispatchedAt: transaction.now,
    } as const
    const status = rest(transaction, { ...task, attempt }, end, settlement.failure, settlement.decision)
    return { outcome: 'settled', status, repeated: false }
  }

  /** It does not apply: either the very same call was made before, or somebody else was faster. */
  #refuse(settlement: OfLease): SettleResult {
    const transaction = this.#transaction
    const { ref, kind } = settlement
    this.#writeWinners()
    const task = transaction.db.get<TaskRow>('taskById', ref.taskId)
    if (task === undefined) return { outcome: 'superseded', because: 'unknown' }
    const ended = endedAttempt(transaction.db, task, ref.attempt)
    if (ended !== undefined && EXECUTION_STATUS[ended.status] === kind && parseToken(ref.token)?.token === ended.token)
      return repeated(ended)
    const because = becauseOf(transaction, task, ref.attempt)
    if (kind === 'released' && because === 'released') return { outcome: 'settled', status: 'queued', repeated: true }
    if (kind === 'succeeded' || kind === 'failed') {
      transaction.journal({
        type: 'execution.superseded',
        taskId: ref.taskId,
        attempt: ref.attempt,
        actor: 'caller',
        reason: `${kind} refused: ${because}`,
        data: { kind, because },
      })
    }
    return { outcome: 'superseded', because }
  }

  #outcome(worker: WorkerId, ok: boolean): void {
    const outcomes = this.#outcomes.get(worker)
    if (outcomes === undefined) this.#outcomes.set(worker, [ok])
    else outcomes.push(ok)
  }
}

const SETTLED_SUCCEEDED: SettleResult = { outcome: 'settled', status: 'succeeded', repeated: false }

function matches(lease: LeaseOfRow, { ref }: Succeeded, token: number): boolean {
  return lease[2] === token && lease[1] === ref.attempt && lease[4] === ref.taskId
}

function jsonArray(numbers: Iterable<number>): string {
  return `[${[...numbers].join()}]`
}
