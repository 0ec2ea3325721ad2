// What became of this worker's settlements: counted for stats(), told to the hooks, and logged where the store had
// another opinion. It changes nothing.

import {
  badEndLine,
  type Claimed,
  type Logger,
  type Settlement,
  type SettleResult,
  speaksAgainstWorker,
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
  readonly #failures: Logger | null
  readonly #counts = { succeeded: 0, failed: 0, released: 0, superseded: 0 }
  #faults = 0

  /** `failures` takes a line for each failed attempt; null for nobody. */
  constructor(hooks: WorkerHooks, log: Logger, failures: Logger | null) {
    this.#hooks = hooks
    this.#log = log
    this.#failures = failures
  }

  get counts(): SettlementCounts {
    return { ...this.#counts }
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
    this.#counts.superseded++
    const { taskId, attempt, snapshot } = claimed
    const words = `${snapshot.action} ended without its lease; the store refused the settlement (${because}).`
    this.#log.warn(words, { task: taskId, attempt, kind, because })
  }

  #noteSettled(
    { claimed }: ActiveExecution,
    settlement: Settlement,
    { status, sentence }: Extract<SettleResult, { outcome: 'settled' }>,
  ): void {
    const { kind } = settlement
    this.#counts[kind === 'succeeded' || kind === 'released' ? kind : 'failed']++
    if (settlement.kind === 'failed') {
      // One that is queued again at once was parked by a breaker: the fault lies elsewhere.
      if (status !== 'queued' && speaksAgainstWorker(settlement)) this.#faults++
      const decision = sentence === undefined ? settlement.decision : { ...settlement.decision, sentence }
      if (this.#failures !== null) this.#tell(this.#failures, claimed, { ...settlement, decision }, status)
    }
    const { onSettled, onFailed } = this.#hooks
    if (onSettled === undefined && onFailed === undefined) return
    const { taskId, attempt } = claimed
    const event = { taskId, attempt, action: claimed.snapshot.action, kind, status }
    callHook(onSettled, event, this.#log)
    if (settlement.kind === 'failed') {
      callHook(onFailed, { ...event, failure: settlement.failure, decision: settlement.decision }, this.#log)
    }
  }

  #tell(
    log: Logger,
    { taskId, attempt, snapshot }: Claimed,
    { kind, failure, decision }: Extract<Settlement, { kind: 'failed' }>,
    status: TaskStatus,
  ): void {
    const line = badEndLine({ subject: snapshot.action, kind, attempt, failure, decision, status })
    const fields = { task: taskId, attempt, action: snapshot.action, code: failure.code }
    log[status === 'dead' ? 'warn' : 'info'](line, fields)
  }
}
