// What became of this worker's settlements: counted for stats(), told to the hooks, and logged where the store had
// another opinion. It changes nothing.

import {
  badEndLine,
  blamesWorker,
  type Claimed,
  type Logger,
  type Settlement,
  type SettleResult,
  type TaskStatus,
} from '@reprise/core'
import type { ActiveExecution } from './active-execution.ts'
import { callHook, type WorkerHooks } from './hooks.ts'

export interface SettlementCounts {
  readonly succeeded: number
  readonly failed: number
  readonly released: number
  /** Refused by the store, because the lease was no longer held. Nothing was changed by them. */
  readonly superseded: number
}

export class SettlementLog {
  readonly #hooks: WorkerHooks
  readonly #log: Logger
  readonly #logFailures: boolean
  #succeeded = 0
  #failed = 0
  #released = 0
  #superseded = 0
  #faults = 0

  constructor(hooks: WorkerHooks, log: Logger, logFailures: boolean) {
    this.#hooks = hooks
    this.#log = log
    this.#logFailures = logFailures
  }

  get counts(): SettlementCounts {
    return {
      succeeded: this.#succeeded,
      failed: this.#failed,
      released: this.#released,
      superseded: this.#superseded,
    }
  }

  /** Of those that failed, how many say something about this worker. */
  get faults(): number {
    return this.#faults
  }

  /** `results` answer the settlements of `batch`, in order. */
  settled(batch: readonly ActiveExecution[], results: readonly SettleResult[]): void {
    for (let index = 0; index < batch.length; index++) {
      const execution = batch[index]
      const settlement = execution?.settlement ?? null
      const result = results[index]
      if (execution === undefined || settlement === null || result === undefined) continue
      if (result.outcome === 'superseded') this.#noteSuperseded(execution, settlement.kind, result.because)
      else this.#noteSettled(execution, settlement, result)
    }
  }

  #noteSuperseded({ claimed }: ActiveExecution, kind: Settlement['kind'], because: string): void {
    this.#superseded++
    this.#log.warn(
      `${claimed.snapshot.action} ended without its lease; the store refused the settlement (${because}).`,
      {
        task: claimed.taskId,
        attempt: claimed.attempt,
        kind,
        because,
      },
    )
  }

  #noteSettled(
    { claimed }: ActiveExecution,
    settlement: Settlement,
    { status }: Extract<SettleResult, { outcome: 'settled' }>,
  ): void {
    if (settlement.kind === 'succeeded') this.#succeeded++
    else if (settlement.kind === 'released') this.#released++
    else this.#failed++
    if (settlement.kind === 'failed') {
      // One that is queued again at once was parked by a breaker: the fault lies elsewhere.
      if (status !== 'queued' && blamesWorker(settlement.failure)) this.#faults++
      if (this.#logFailures) this.#logFailure(claimed, settlement, status)
    }
    const { onSettled, onFailed } = this.#hooks
    if (onSettled === undefined && onFailed === undefined) return
    const { taskId, attempt } = claimed
    const event = { taskId, attempt, action: claimed.snapshot.action, kind: settlement.kind, status }
    callHook(onSettled, event, this.#log)
    if (settlement.kind === 'failed') {
      callHook(onFailed, { ...event, failure: settlement.failure, decision: settlement.decision }, this.#log)
    }
  }

  #logFailure(
    { taskId, attempt, snapshot }: Claimed,
    { kind, failure, decision }: Extract<Settlement, { kind: 'failed' }>,
    status: TaskStatus,
  ): void {
    const line = badEndLine({ subject: snapshot.action, kind, attempt, failure, decision, status })
    const fields = { task: taskId, attempt, action: snapshot.action, code: failure.code }
    this.#log[status === 'dead' ? 'warn' : 'info'](line, fields)
  }
}
