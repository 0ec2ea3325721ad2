// Settling: the end of attempts. Many that succeeded take three statements together; everything unusual goes one by one.
// Each settlement is fenced by its token against the lease as it stands in this very transaction.

import {
  type Settlement,
  type SettleResult,
  type SupersededBecause,
  speaksAgainstWorker,
  type WorkerId,
} from '@reprise/core'
import {
  ACTORS,
  checkBatch,
  checkSettlements,
  type Recovery,
  recoveredEntry,
  releasedEntry,
  succeededEntry,
  supersededEntry,
  workerActor,
} from '@reprise/core/engine'
import { tellFailure, tellSuccess } from './breakers.ts'
import type { RowOf } from './database.ts'
import {
  becauseOf,
  endExecution,
  endedAttempt,
  endLease,
  heldLease,
  overdueKind,
  parkAttempt,
  repeated,
} from './ending.ts'
import { Outcomes } from './outcomes.ts'
import type { WorkerRow } from './registry.ts'
import { isUnderWay, type LeaseRow, parseToken, statusOf, type TaskRow } from './rows.ts'
import { columns } from './sql.generated.ts'
import { EXECUTION_STATUS, RETIRED_PLACE, STAGE_NUMBER } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

const LEASE = columns.leasesOf

/** Longer ones are not worth writing them into a list and reading them out again. */
const SHORT_RESULT_LENGTH_MAX = 1_024

/** A row of leasesOf. */
type LeaseOfRow = RowOf<typeof LEASE, Omit<LeaseRow, 'worker'> & { readonly worker: number }>
type Succeeded = Extract<Settlement, { kind: 'succeeded' }>
type Failed = Extract<Settlement, { kind: 'failed' }>
type Lost = Extract<Settlement, { kind: 'lost' }>
type Released = Extract<Settlement, { kind: 'released' }>
type OfLease = Exclude<Settlement, { kind: 'expired' }>

export function settle(transaction: Transaction, settlements: readonly Settlement[]): SettleResult[] {
  checkBatch(settlements.length)
  checkSettlements(settlements)
  if (settlements.length === 0) return []
  return new Settling(transaction, settlements).run()
}

class Settling {
  readonly #transaction: Transaction
  readonly #settlements: readonly Settlement[]
  /** Succeeded and fenced, by seq; written together at the end. */
  readonly #winners = new Map<number, Succeeded>()
  readonly #outcomes = new Outcomes()

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
        const worker = this.#transaction.workerNames.textOf(lease[LEASE.worker]) as WorkerId
        this.#outcomes.add(worker, this.#transaction.lane(lease[LEASE.lane]).tenant, true)
        return this.#win(
          {
            seq: lease[LEASE.seq],
            id: lease[LEASE.id],
            lane: lease[LEASE.lane],
            profile: lease[LEASE.profile],
            worker,
          },
          settlement,
        )
      }
      return this.#settleOne(settlement, parsed)
    })
    this.#writeWinners()
    this.#outcomes.save(this.#transaction)
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
    for (const row of this.#transaction.db.arrays<LeaseOfRow>('leasesOf', jsonArray(seqs)))
      leases.set(row[LEASE.seq], row)
    return leases
  }

  #win(
    { seq, id, lane: laneId, profile, worker }: Pick<LeaseRow, 'seq' | 'id' | 'lane' | 'profile' | 'worker'>,
    settlement: Succeeded,
  ): SettleResult {
    const transaction = this.#transaction
    this.#winners.set(seq, settlement)
    const lane = transaction.lane(laneId)
    transaction.move(lane, 'running', 'succeeded')
    transaction.count(lane, 'succeeded')
    transaction.ended(id)
    tellSuccess(transaction, lane, seq)
    const { attempt } = settlement.ref
    const ended = { taskId: id, attempt, action: lane.action }
    // A first attempt recovers nothing, so nothing more is read for it.
    if (attempt > 1) this.#tellRecovery(seq, ended, worker)
    if (transaction.profiles.settingsOf(profile).notify === true) transaction.journal(succeededEntry(ended, worker))
    return SETTLED_SUCCEEDED
  }

  #tellRecovery(seq: number, ended: Parameters<typeof recoveredEntry>[0], worker: WorkerId): void {
    const row = this.#transaction.db.get<Omit<Recovery, 'reason'> & { reason: string | null }>('recoveryOf', seq)
    if (row === undefined || row.reason === null) return
    this.#transaction.journal(recoveredEntry(ended, worker, { ...row, reason: row.reason }))
  }

  #writeWinners(): void {
    if (this.#winners.size === 0) return
    const { db, now } = this.#transaction
    const plain: number[] = []
    const short: [seq: number, result: string][] = []
    for (const [seq, { result }] of this.#winners) {
      if (result === null) plain.push(seq)
      else if (result.length <= SHORT_RESULT_LENGTH_MAX) short.push([seq, result])
      else db.run('recordResult', seq, now, result)
    }
    if (plain.length > 0) db.run('recordSuccesses', jsonArray(plain), now)
    if (short.length > 0) db.run('recordResults', JSON.stringify(short), now)
    db.run('deleteLeases', jsonArray(this.#winners.keys()))
    this.#winners.clear()
  }

  #settleOne(settlement: OfLease, parsed: { readonly token: number; readonly seq: number }): SettleResult {
    const { ref } = settlement
    // What was decided before in this batch must show.
    if (this.#winners.has(parsed.seq)) this.#writeWinners()
    const lease = heldLease(this.#transaction.db, ref)
    if (lease === undefined) return this.#refuse(settlement)
    if (settlement.kind === 'released') return this.#release(lease, settlement)
    // Nothing of it has begun, so it can only be undone.
    if (isUnderWay(lease.stage)) return this.#supersede(settlement, 'replaced')
    switch (settlement.kind) {
      case 'succeeded':
        // Reached only when it was not in the first look: launched, or settled for the second time in this batch.
        if (lease.stage === STAGE_NUMBER.run) this.#saw(lease, true)
        return this.#win(lease, settlement)
      case 'failed':
        return this.#fail(lease, settlement)
      case 'lost':
        return this.#lose(lease, settlement)
    }
  }

  #fail(lease: LeaseRow, settlement: Failed): SettleResult {
    const transaction = this.#transaction
    const { failure, outage } = settlement
    const lane = transaction.lane(lease.lane)
    const isParked = outage !== undefined && tellFailure(transaction, outage, lane, lease.started_at)
    transaction.db.run('deleteLease', lease.seq)
    const ending = endingOf(lease, 'failed')
    const status = isParked
      ? parkAttempt(transaction, lease, ending, failure, outage.park)
      : endExecution(transaction, lease, ending, settlement)
    if (lease.stage === STAGE_NUMBER.run) {
      if (!isParked && speaksAgainstWorker(settlement)) this.#saw(lease, false)
      this.#outcomes.progressed(lease.worker)
    }
    return { outcome: 'settled', status, repeated: false }
  }

  #lose(lease: LeaseRow, settlement: Lost): SettleResult {
    const transaction = this.#transaction
    if (settlement.gone !== true && lease.until > transaction.now) return { outcome: 'superseded', because: 'renewed' }
    transaction.db.run('deleteLease', lease.seq)
    const status = endExecution(transaction, lease, endingOf(lease, 'lost'), settlement)
    if (lease.stage === STAGE_NUMBER.run && !this.#beganAnew(lease)) this.#saw(lease, false)
    return { outcome: 'settled', status, repeated: false }
  }

  #saw(lease: LeaseRow, ok: boolean): void {
    this.#outcomes.add(lease.worker, this.#transaction.lane(lease.lane).tenant, ok)
  }

  /** Whether its worker registered again since the attempt started: then it is not the one that lost it. */
  #beganAnew({ worker, started_at }: LeaseRow): boolean {
    const row = this.#transaction.db.get<WorkerRow>('findWorker', worker)
    return row !== undefined && row.registered_at > started_at
  }

  #release(lease: LeaseRow, { reason, deferral }: Released): SettleResult {
    const transaction = this.#transaction
    const lane = transaction.lane(lease.lane)
    const status = statusAfterRelease(deferral)
    endLease(transaction.db, lease.seq, lease.stage)
    transaction.db.run('deleteLog', lease.seq, lease.attempt)
    transaction.move(lane, 'running', status)
    if (deferral === undefined) {
      transaction.enqueue(lane, lease, lease.rank, transaction.profiles.settingsOf(lease.profile))
    } else {
      const dueAt = transaction.now + deferral.delayMs
      transaction.db.run('deferTask', transaction.now, dueAt, deferral.reason, lease.seq)
      transaction.db.run('insertWaiting', lane.pool, dueAt, lease.seq)
      transaction.wakePool(lane.pool)
    }
    if (lease.stage === STAGE_NUMBER.run) this.#outcomes.progressed(lease.worker)
    transaction.journal(releasedEntry(lease.id, lease.attempt, lease.worker, reason))
    return { outcome: 'settled', status, repeated: false }
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
      actor: ACTORS.sweep,
      worker: null,
      token: transaction.nextToken(),
      dispatchedAt: transaction.now,
    } as const
    const status = endExecution(transaction, { ...task, attempt }, end, settlement)
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
    if (settlement.kind === 'released' && because === 'released')
      return { outcome: 'settled', status: statusAfterRelease(settlement.deferral), repeated: true }
    return this.#supersede(settlement, because)
  }

  #supersede({ kind, ref }: OfLease, because: SupersededBecause): SettleResult {
    if (kind === 'succeeded' || kind === 'failed') {
      this.#transaction.journal(supersededEntry({ kind, ref }, because))
    }
    return { outcome: 'superseded', because }
  }
}

const SETTLED_SUCCEEDED: SettleResult = { outcome: 'settled', status: 'succeeded', repeated: false }

function matches(lease: LeaseOfRow, { ref }: Succeeded, token: number): boolean {
  return lease[LEASE.token] === token && lease[LEASE.attempt] === ref.attempt && lease[LEASE.id] === ref.taskId
}

function jsonArray(numbers: Iterable<number>): string {
  return `[${[...numbers].join()}]`
}

function statusAfterRelease(deferral: Released['deferral']): 'queued' | 'waiting' {
  return deferral === undefined ? 'queued' : 'waiting'
}

function endingOf(lease: LeaseRow, kind: 'failed' | 'lost') {
  return {
    kind,
    from: 'running',
    actor: kind === 'lost' ? ACTORS.sweep : workerActor(lease.worker),
    worker: lease.worker_number,
    token: lease.token,
    dispatchedAt: lease.started_at,
  } as const
}
