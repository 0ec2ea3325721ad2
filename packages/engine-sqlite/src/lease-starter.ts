// Starts leases. Those of one claim mostly differ in their task and token only, so they are written in runs: one statement
// for as many as agree in the rest. The verb that starts leases must flush before anybody reads them.

import {
  type ClaimRequest,
  type LeaseRef,
  type TaskId,
  type TaskSettings,
  TIMEOUT_GRACE_MS,
  type WorkerId,
} from '@reprise/core'
import { buildText } from './builds.ts'
import type { Lane } from './lane.ts'
import type { WorkerRow } from './registry.ts'
import { tokenText } from './rows.ts'
import { STAGE_NUMBER } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

export interface LeaseStart extends LeaseRef {
  readonly startedAt: number
  readonly leaseUntil: number
  readonly timeoutAt: number
}

interface StartingTask {
  readonly seq: number
  readonly id: TaskId
  readonly attempt: number
  readonly from: 'queued' | 'waiting' | 'dead'
  readonly settings: Pick<TaskSettings, 'timeoutMs'>
}

export class LeaseStarter {
  readonly #transaction: Transaction
  readonly #worker: number
  readonly #leaseMs: number
  readonly #stage: NonNullable<ClaimRequest['stage']>
  /** The run that is being gathered; its tokens follow each other. */
  #seqs: number[] = []
  #firstToken = 0
  #attempt = 0
  #timeoutAt = 0

  /** `row` is what the registry knows of the worker, if it is registered. */
  constructor(
    transaction: Transaction,
    worker: WorkerId,
    row: WorkerRow | undefined,
    leaseMs: number,
    stage: NonNullable<ClaimRequest['stage']>,
  ) {
    this.#transaction = transaction
    this.#worker = transaction.workerNames.idOf(worker, buildText(row, stage))
    this.#leaseMs = leaseMs
    this.#stage = stage
  }

  start(lane: Lane, task: StartingTask): LeaseStart {
    const transaction = this.#transaction
    const { now } = transaction
    const timeoutAt = now + task.settings.timeoutMs
    const token = transaction.nextToken()
    const fits =
      task.attempt === this.#attempt && timeoutAt === this.#timeoutAt && token === this.#firstToken + this.#seqs.length
    if (!fits) {
      this.flush()
      this.#firstToken = token
      this.#attempt = task.attempt
      this.#timeoutAt = timeoutAt
    }
    this.#seqs.push(task.seq)
    transaction.move(lane, task.from, 'running')
    transaction.count(lane, 'started')
    return {
      taskId: task.id,
      attempt: task.attempt,
      token: tokenText(token, task.seq),
      startedAt: now,
      leaseUntil: this.#until(timeoutAt),
      timeoutAt,
    }
  }

  flush(): void {
    if (this.#seqs.length === 0) return
    const { db, now } = this.#transaction
    const seqs = `[${this.#seqs.join()}]`
    db.run(
      'insertLeases',
      seqs,
      this.#attempt,
      this.#firstToken,
      this.#worker,
      now,
      this.#until(this.#timeoutAt),
      this.#timeoutAt,
      STAGE_NUMBER[this.#stage],
    )
    this.#seqs = []
  }

  #until(timeoutAt: number): number {
    const until = this.#transaction.now + this.#leaseMs
    // While a worker is looked for, nothing runs that could time out.
    return this.#stage === 'dispatch' ? until : Math.min(until, timeoutAt + TIMEOUT_GRACE_MS)
  }
}
