// One execution while this worker has it: from the claim until it has ended here, in one of five ways. The first end
// counts and any later one is ignored, so a handler that comes back after its timeout changes nothing. It keeps no
// timer of its own, and makes an AbortController only for a handler that asks for its signal.

import {
  type AttemptLog,
  type Circumstances,
  type Claimed,
  type Clock,
  cut,
  type FailureReason,
  failed,
  formatDuration,
  type HandlerScope,
  isSuspect,
  type JsonText,
  type Judgement,
  judgeObserved,
  judgeOutcomeUnknown,
  judgeThrown,
  type LogLine,
  lossTerms,
  type Mark,
  mayStart,
  type PolicySource,
  type Progress,
  type Random,
  released,
  type Settlement,
  type SupersededBecause,
  SupersededError,
  succeeded,
  TimedOutError,
  type Turns,
  turnsOf,
} from '@reprise/core'
import { KeptLog } from './kept-log.ts'
import { watchfulSignal } from './watchful-signal.ts'

/** Who wants to know about the end of an execution. */
export interface ExecutionOwner {
  readonly clock: Clock
  readonly random: Random
  readonly policies: PolicySource
  /** It has ended; its settlement must reach the store, or is null if the store knows better already. */
  ended(execution: ActiveExecution): void
  /** Its handler waits for results of other tasks; and does so no more. */
  handlerAwaits(): void
  handlerGoesOn(): void
  /** Its handler has told something that the store does not have yet. */
  hasNews(execution: ActiveExecution): void
  /** The handler of an execution that had ended before has come to rest. */
  handlerReturned(): void
  /** When a lease ends that would end then if no thread had renewed it, on the monotonic clock. */
  leaseEnd(endsAt: number): number
  /** Renews its lease now; it has ended afterwards if that is gone. Rejects if the store can't be asked. */
  renewNow(execution: ActiveExecution): Promise<void>
}

const NOTE_LENGTH_MAX = 1_000

/** When it was claimed, on this process's monotonic clock; and the store's mark from before. */
export interface ClaimMoments {
  readonly receivedAt: number
  readonly leaseEndsAt: number
  readonly mark: Mark
}

export class ActiveExecution implements HandlerScope {
  readonly claimed: Claimed
  /** When the claim came back, and when the attempt must end: on this process's monotonic clock. */
  readonly receivedAt: number
  readonly deadlineAt: number
  /** Taken before the claim. */
  readonly mark: Mark
  /** When the lease ends unless it is renewed: on the monotonic clock, counted from before the store was asked. */
  leaseEndsAt: number
  settlement: Settlement | null = null
  ended = false
  /** From the call of the handler until it comes back, be that long after the end. */
  handlerRuns = false
  readonly #owner: ExecutionOwner
  /** Why it goes back to the queue if its handler does not succeed; null while that is no question. */
  #giveBack: string | null = null
  #progress: Progress | null = null
  #log: KeptLog | null = null
  #controller: AbortController | null = null
  #abortReason: Error | null = null
  /** Results of other tasks that its handler waits for. */
  #awaited = 0

  constructor(claimed: Claimed, { receivedAt, leaseEndsAt, mark }: ClaimMoments, owner: ExecutionOwner) {
    this.claimed = claimed
    this.leaseEndsAt = leaseEndsAt
    this.receivedAt = receivedAt
    this.mark = mark
    this.deadlineAt = receivedAt + claimed.snapshot.settings.timeoutMs
    this.#owner = owner
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      watchfulSignal(this.#controller.signal, () => this.checkLease())
      if (this.#abortReason !== null) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  get leaseMsLeft(): number {
    if (this.ended) return 0
    return Math.max(Math.floor(this.#owner.leaseEnd(this.leaseEndsAt) - this.#owner.clock.monotonic()), 0)
  }

  get timeoutInMs(): number {
    return this.deadlineAt - this.#owner.clock.monotonic()
  }

  /** The store has extended it, at the earliest then. */
  leaseRenewed(endsAt: number): void {
    this.leaseEndsAt = Math.max(this.leaseEndsAt, endsAt)
  }

  /** A lease that was not renewed in time may be somebody else's: the handler is asked to stop, and settles if it is not. */
  checkLease(): void {
    if (this.ended || this.#abortReason !== null || this.leaseMsLeft > 0) return
    this.#giveBack = LATE_REASON
    const { taskId, attempt } = this.claimed
    this.#abort(new SupersededError(taskId, attempt, LATE_REASON))
  }

  async stillMine(): Promise<boolean> {
    if (!this.ended) await this.#owner.renewNow(this)
    return !this.ended
  }

  /** Of the process that it runs in. */
  get turns(): Turns {
    return turnsOf(this.#owner.clock)
  }

  /** The store's time, carried on by the monotonic clock: this host's wall clock decides nothing. */
  now(): number {
    return this.claimed.startedAt + Math.round(this.#owner.clock.monotonic() - this.receivedAt)
  }

  /** Its last attempt was lost, and the action is to be asked what became of that before it runs again. */
  get mustReconcile(): boolean {
    const { retryReason, snapshot, policy } = this.claimed
    if (retryReason !== 'worker_lost') return false
    return lossTerms(this.#owner.policies.current(), snapshot, policy).meaning === 'reconcile'
  }

  /** One more loss would end it as a crash loop: whether it is to blame must be found out. */
  get isSuspect(): boolean {
    return isSuspect(this.#owner.policies.current(), this.claimed)
  }

  /**
   * Whether the handler may be called now, which is the moment of the claim unless something was asked since. If it is too
   * late, or nobody wants it any more, the execution has ended.
   */
  begins(now: number = this.claimed.startedAt): boolean {
    if (this.ended || this.#giveBack !== null) {
      if (!this.#returnedLate()) this.#end(released(this.claimed, this.#giveBack ?? STOP_REASON))
      return false
    }
    const judgement = mayStart(this.#owner.policies.current(), this.claimed, now)
    if (judgement === null) return true
    this.#returnedLate()
    this.#end(this.#failed(judgement))
    return false
  }

  /** Nobody can tell what became of the attempt before: a person has to look. */
  leaveToPerson(message: string): void {
    if (this.#returnedLate()) return
    if (this.#giveBack !== null) this.#end(released(this.claimed, this.#giveBack))
    else this.#end(this.#failed(judgeOutcomeUnknown(this.#owner.policies.current(), this.claimed, message)))
  }

  /** The handler came back with this result. */
  succeed(result: JsonText | null): void {
    if (this.#returnedLate()) return
    this.#end(succeeded(this.claimed, result))
  }

  /** The handler failed. If it was asked to stop, that is no failure of the task: it goes back to the queue. */
  fail(thrown: unknown): void {
    if (this.#returnedLate()) return
    this.#end(this.#giveBack === null ? this.#thrown(thrown) : released(this.claimed, this.#giveBack))
  }

  /** It could not begin, or its result can't be stored: the worker itself found so. */
  refuse(reason: FailureReason, message: string): void {
    if (this.#returnedLate()) return
    this.#end(this.#giveBack === null ? this.#observed(reason, message) : released(this.claimed, this.#giveBack))
  }

  /** It has run for too long. The handler is asked to stop, and not waited for. */
  timeOut(): void {
    if (this.ended) return
    const message = `The handler ran longer than ${formatDuration(this.claimed.snapshot.settings.timeoutMs)}.`
    this.#end(this.#observed('timeout', message))
    this.#abort(new TimedOutError(message))
  }

  /** The lease is somebody else's, or nobody's. Nothing is left to tell the store. */
  supersede(because: SupersededBecause | Error): void {
    if (this.ended) return
    const { taskId, attempt } = this.claimed
    this.#end(null)
    this.#abort(because instanceof Error ? because : new SupersededError(taskId, attempt, because))
  }

  /** The worker is about to stop: the handler may still finish, for a moment. */
  askToStop(): void {
    if (this.ended || this.#giveBack !== null) return
    this.#giveBack = STOP_REASON
    this.#abort(new SupersededError(this.claimed.taskId, this.claimed.attempt, STOP_REASON))
  }

  /** The worker stops now: back to the queue, as if it had never been claimed. */
  release(reason: string = STOP_REASON): void {
    if (this.ended) return
    this.#end(released(this.claimed, reason))
  }

  report(fraction: number | null, note: string | undefined): void {
    const share = fraction === null || Number.isNaN(fraction) ? null : Math.min(Math.max(fraction, 0), 1)
    this.#progress = { fraction: share, note: note === undefined ? null : cut(String(note), NOTE_LENGTH_MAX) }
    if (!this.ended) this.#owner.hasNews(this)
  }

  awaits(): () => void {
    if (this.#awaited++ === 0) this.#owner.handlerAwaits()
    return () => {
      if (--this.#awaited === 0) this.#owner.handlerGoesOn()
    }
  }

  /** A line of its handler's log, kept with the attempt. */
  log(level: LogLine['level'], text: string): void {
    if (this.ended) return
    this.#log ??= new KeptLog()
    this.#log.add(this.now(), level, text)
    this.#owner.hasNews(this)
  }

  /** The log, if the store does not have all of it. */
  takeLog(): AttemptLog | null {
    return this.#log?.take() ?? null
  }

  putBackLog(): void {
    this.#log?.putBack()
  }

  /** Progress that was not stored yet. */
  takeProgress(): Progress | null {
    const progress = this.#progress
    this.#progress = null
    return progress
  }

  /** The store could not be told; a newer report wins. */
  putBackProgress(progress: Progress | null): void {
    this.#progress ??= progress
  }

  #thrown(thrown: unknown): Settlement {
    return this.#failed(judgeThrown(this.#owner.policies.current(), this.claimed, thrown, this.#circumstances()))
  }

  #observed(reason: FailureReason, message: string): Settlement {
    const book = this.#owner.policies.current()
    return this.#failed(judgeObserved(book, this.claimed, { reason, message }, this.#circumstances()))
  }

  #failed({ failure, decision, guards }: Judgement): Settlement {
    return failed(this.claimed, failure, decision, guards)
  }

  #circumstances(): Circumstances {
    return { now: this.now(), roll: this.#owner.random.next() }
  }

  #returnedLate(): boolean {
    this.handlerRuns = false
    if (this.ended) this.#owner.handlerReturned()
    return this.ended
  }

  #end(settlement: Settlement | null): void {
    this.ended = true
    this.settlement = settlement
    this.#owner.ended(this)
  }

  #abort(reason: Error): void {
    this.#abortReason ??= reason
    this.#controller?.abort(reason)
  }
}

const STOP_REASON = 'released: its worker stops'
const LATE_REASON = 'its lease was not renewed in time'
