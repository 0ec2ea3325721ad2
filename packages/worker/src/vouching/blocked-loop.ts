// What one worker makes of a blocked event loop: its leases are vouched for meanwhile, and afterwards the block is named
// where people look: in the log, in the log of the attempt that caused it, and at the health endpoint. The store has
// shown it in the worker's outlook while it lasted.

import { type Clock, formatDuration, type Logger, systemClock, type Voucher, type WorkerId } from '@reprise/core'
import type { ActiveExecution } from '../active-execution.ts'
import type { Culprit } from '../running-now.ts'
import { type Block, Vouched } from './vouching.ts'

export interface BlockedLoopOptions {
  readonly worker: WorkerId
  readonly leaseMs: number
  readonly clock: Clock
  readonly log: Logger
  readonly active: ReadonlySet<ActiveExecution>
  readonly voucher: () => Voucher | null
  /** The store thinks that this worker is blocked, and must hear that it goes on. */
  readonly goesOn: () => void
}

/** The last block, for those who ask. */
export interface LastBlock {
  readonly ms: number
  readonly agoMs: number
  readonly action: string | null
  readonly task: string | null
  readonly place: string | null
}

export class BlockedLoop {
  readonly #options: BlockedLoopOptions
  readonly #vouched: Vouched | null
  #last: { readonly block: Block; readonly endedAt: number } | null = null

  constructor(options: BlockedLoopOptions) {
    this.#options = options
    const { worker, leaseMs, log } = options
    // A thread knows only the real time.
    const voucher = options.clock === systemClock ? options.voucher() : null
    const onBlock = (block: Block, isVouchedFor: boolean): void => this.#noted(block, isVouchedFor)
    this.#vouched = voucher === null ? null : new Vouched({ worker, leaseMs, voucher, log, onBlock })
  }

  /** Before it begins. */
  start(): void {
    this.#vouched?.join()
  }

  /** The worker is registered under this epoch. */
  registered(epoch: number): void {
    this.#vouched?.as(epoch)
  }

  stop(): void {
    this.#vouched?.stop()
  }

  /** When a lease ends that would end then if nobody had vouched for it, on the monotonic clock. */
  leaseEnd(endsAt: number): number {
    return this.#vouched?.leaseEnd(endsAt) ?? endsAt
  }

  get last(): LastBlock | null {
    if (this.#last === null) return null
    const { block, endedAt } = this.#last
    const { action = null, task = null, place = null } = block.culprit ?? {}
    return { ms: block.ms, agoMs: Math.round(this.#options.clock.monotonic() - endedAt), action, task, place }
  }

  #noted(block: Block, isVouchedFor: boolean): void {
    const { worker, clock, log, active, goesOn } = this.#options
    const { ms, culprit, error } = block
    this.#last = { block, endedAt: clock.monotonic() }
    const lasted = formatDuration(ms)
    log.warn(`${culpritText(culprit)} blocked the event loop for ${lasted}: nothing else ran meanwhile.`, {
      worker,
      ms,
      ...(culprit === null ? {} : { task: culprit.task, attempt: culprit.attempt, place: culprit.place }),
      ...(error === null ? {} : { leasesNotRenewed: error }),
    })
    for (const execution of active) {
      const { taskId, attempt } = execution.claimed
      if (taskId !== culprit?.task || attempt !== culprit.attempt) continue
      execution.log(
        'warn',
        `It blocked the event loop for ${lasted}${culprit.place === null ? '' : `, at ${culprit.place}`}.`,
      )
    }
    if (isVouchedFor) goesOn()
  }
}

function culpritText(culprit: Culprit | null): string {
  if (culprit === null) return 'Something'
  return culprit.task === null ? 'Code outside of any handler' : `${culprit.action} (task ${culprit.task})`
}
