// Carries out what the reconciliation found: renews in one call, settles in one call, tells the launcher what it may forget,
// and ends workers beside the loop, because that takes as long as the grace time. Everything is fenced by the lease's token,
// so any number of processes may do it at once.

import {
  BATCH_MAX,
  failed,
  isRepriseError,
  judgeLost,
  judgeObserved,
  judgeThrown,
  type Launch,
  type LaunchOutcome,
  type LaunchRef,
  launchKey,
  lost,
  type RenewRequest,
  released,
  type Settlement,
  type SettleResult,
  succeeded,
  TIMEOUT_GRACE_MS,
  timeoutMessage,
} from '@reprise/core'
import { refOf } from './launch-funnel.ts'
import type { LaunchSettings } from './launch-settings.ts'
import type { LauncherCalls } from './launcher-calls.ts'
import type { Sighted, Verdict } from './reconcile-one.ts'

interface Ending {
  readonly key: string
  readonly launch: Launch
  readonly settlement: Settlement
  /** What the launcher may forget once it is settled; null if there is nothing. */
  readonly forget: LaunchRef | null
}

export class ReconcileSteps {
  readonly #settings: LaunchSettings
  readonly #calls: LauncherCalls
  readonly #endings = new Map<string, Promise<void>>()

  constructor(settings: LaunchSettings, calls: LauncherCalls) {
    this.#settings = settings
    this.#calls = calls
  }

  /** A worker is being ended: nothing else is to be done about it. */
  isEnding(key: string): boolean {
    return this.#endings.has(key)
  }

  /** Comes back when every worker that was asked to end has ended. */
  async allEnded(): Promise<void> {
    await Promise.all(this.#endings.values())
  }

  async take(verdicts: readonly { sighted: Sighted; verdict: Verdict }[], now: number): Promise<void> {
    const renewals: { sighted: Sighted; handle: string | null }[] = []
    const endings: Ending[] = []
    for (const { sighted, verdict } of verdicts) {
      const { key, launch } = sighted
      switch (verdict.kind) {
        case 'leave':
          break
        case 'renew':
          renewals.push({ sighted, handle: verdict.handle })
          break
        case 'end':
          this.#endBeside({ key, handle: verdict.handle }, launch, () => this.#timeOut(launch, verdict.handle, now), {
            // Its lease goes no further: a worker that can't be ended by then is failed all the same.
            evenIfItLives: now >= launch.timeoutAt + TIMEOUT_GRACE_MS,
          })
          break
        case 'settle': {
          const forget = { key, handle: verdict.sighting.handle }
          endings.push({ key, launch, settlement: this.#settlementOf(launch, verdict.sighting.outcome, now), forget })
          break
        }
        case 'lost':
          endings.push({
            key,
            launch,
            settlement: this.#lossOf(launch, verdict, now),
            forget: { key, handle: launch.handle },
          })
          break
        case 'release': {
          const settlement = released(refOf(launch), `'${launch.worker}' reserved it and launched nothing.`)
          // The next try has the same key: by the time this is settled, there may be something new to forget.
          endings.push({ key, launch, settlement, forget: null })
          break
        }
      }
    }
    await this.#renew(renewals)
    await this.#settle(endings)
  }

  /** Of these, the ones whose leases are still ours; the workers of the others are ended. */
  async stillHeld(launches: readonly Launch[]): Promise<readonly Launch[]> {
    const held: Launch[] = []
    for (let start = 0; start < launches.length; start += BATCH_MAX) {
      const batch = launches.slice(start, start + BATCH_MAX)
      const requests = batch.map((launch): RenewRequest => ({ ...refOf(launch), progress: null }))
      const results = await this.#settings.engine.renew(requests, this.#settings.leaseMs)
      for (const [index, launch] of batch.entries()) {
        const result = results[index]
        if (result?.outcome === 'extended') held.push({ ...launch, leaseUntil: result.leaseUntil })
        else this.#discard(launch, result?.because ?? 'unknown')
      }
    }
    return held
  }

  async #renew(renewals: readonly { sighted: Sighted; handle: string | null }[]): Promise<void> {
    if (renewals.length === 0) return
    const { engine, ledger, leaseMs } = this.#settings
    const requests = renewals.map(({ sighted, handle }): RenewRequest => {
      const request = { ...refOf(sighted.launch), progress: null }
      return handle === null ? request : { ...request, handle }
    })
    const results = await engine.renew(requests, leaseMs)
    for (const [index, { sighted, handle }] of renewals.entries()) {
      const result = results[index]
      const { key, launch, isOwn } = sighted
      const known = { ...launch, handle: handle ?? launch.handle }
      if (result?.outcome === 'extended') {
        const words = `The launch of ${launch.snapshot.action} by another process is watched here now.`
        if (!isOwn) this.#settings.log.info(words, logged(launch))
        ledger.adopt(key, { ...known, leaseUntil: result.leaseUntil })
      } else if (result?.because !== 'replaced' || isOwn) this.#discard(known, result?.because ?? 'unknown')
    }
  }

  async #settle(endings: readonly Ending[]): Promise<void> {
    if (endings.length === 0) return
    const { ledger, log, onError } = this.#settings
    const results = await this.#settled(endings)
    for (const [index, { key, launch, settlement, forget }] of endings.entries()) {
      const result = results[index]
      if (result === undefined) continue
      // Not lost after all: it was renewed between looking and settling, and is looked at again.
      if (result.outcome === 'superseded' && result.because === 'renewed') continue
      if (settlement.kind === 'lost' || settlement.kind === 'released') {
        const told = { ...logged(launch), kind: settlement.kind, outcome: result.outcome }
        log.warn(`The launch of ${launch.snapshot.action} came to nothing.`, told)
      }
      try {
        if (forget !== null) await this.#calls.forget(forget)
      } catch (error) {
        onError(error)
        const words = `The launcher could not forget the settled launch of ${launch.snapshot.action}.`
        log.warn(words, { ...logged(launch), error })
      }
      ledger.done(key)
    }
  }

  /** Undefined for what the store took in no form. */
  async #settled(endings: readonly Ending[]): Promise<readonly (SettleResult | undefined)[]> {
    const { engine, onError } = this.#settings
    try {
      return await engine.settle(endings.map(({ settlement }) => settlement))
    } catch (error) {
      // The store refuses what one of them says: that must not hold up the others.
      if (!isRepriseError(error) || error.status >= 500) throw error
      const [first] = endings
      if (endings.length > 1 || first === undefined) {
        return (await Promise.all(endings.map((ending) => this.#settled([ending])))).flat()
      }
      onError(error)
      if (first.settlement.kind !== 'succeeded') return [undefined]
      const judged = this.#settlementOf(first.launch, { ok: false, thrown: error }, first.launch.startedAt)
      return engine.settle([judged])
    }
  }

  #settlementOf(launch: Launch, outcome: LaunchOutcome, now: number): Settlement {
    const { policies, random } = this.#settings
    if (outcome.ok) return succeeded(refOf(launch), outcome.result)
    const judgement = judgeThrown(policies.current(), launch, outcome.thrown, { now, roll: random.next() })
    return failed(refOf(launch), judgement.failure, judgement.decision, judgement.guards)
  }

  #lossOf(launch: Launch, { cause, gone }: Verdict & { readonly kind: 'lost' }, now: number): Settlement {
    const { policies, random, launcher } = this.#settings
    const words = cause?.message ?? `The worker that launcher '${launcher.name}' had started is gone without a result.`
    const circumstances = { now, roll: random.next() }
    // Whatever is launched has no hook that could be asked, now or at the next attempt.
    const judged = judgeLost(policies.current(), launch, words, circumstances, {
      hook: 'none',
      code: cause?.code ?? null,
    })
    const { failure, decision, guards } = judged
    return lost(refOf(launch), failure, decision, { ...guards, gone })
  }

  async #timeOut(launch: Launch, handle: string | null, now: number): Promise<void> {
    const { policies, random } = this.#settings
    const message = timeoutMessage(launch.snapshot.settings.timeoutMs)
    const observed = { reason: 'timeout', message } as const
    const judgement = judgeObserved(policies.current(), launch, observed, { now, roll: random.next() })
    const settlement = failed(refOf(launch), judgement.failure, judgement.decision, judgement.guards)
    const key = launchKey(launch)
    await this.#settle([{ key, launch, settlement, forget: { key, handle } }])
  }

  /** Its attempt is over for the store: cancelled, or settled by the worker itself. */
  #discard(launch: Launch, because: string): void {
    const { ledger, log } = this.#settings
    const ref = { key: launchKey(launch), handle: launch.handle }
    // Without a handle it can't be told from a newer one under the same key.
    if (ref.handle === null && (because === 'replaced' || because === 'released')) {
      ledger.done(ref.key)
      return
    }
    const words = `The launch of ${launch.snapshot.action} is not needed any more; its worker is ended.`
    log.info(words, { ...logged(launch), because })
    this.#endBeside(ref, launch, async () => {
      await this.#calls.forget(ref)
      ledger.done(ref.key)
    })
  }

  #endBeside(ref: LaunchRef, launch: Launch, then: () => Promise<void>, { evenIfItLives = false } = {}): void {
    const { endGraceMs, log, onError } = this.#settings
    if (this.#endings.has(ref.key)) return
    const ending = Promise.resolve().then(async (): Promise<void> => {
      try {
        try {
          await this.#calls.end(ref, endGraceMs)
        } catch (error) {
          if (!evenIfItLives) throw error
          onError(error)
          const words = `The worker of ${launch.snapshot.action} could not be ended, and its time is over; it may live on.`
          log.error(words, { ...logged(launch), error })
        }
        await then()
      } catch (error) {
        // The next pass finds it where it was.
        if (isRepriseError(error, 'REPRISE_STORE_CLOSED')) return
        onError(error)
        log.warn(`The worker of ${launch.snapshot.action} could not be ended now.`, { ...logged(launch), error })
      } finally {
        this.#endings.delete(ref.key)
      }
    })
    this.#endings.set(ref.key, ending)
  }
}

const logged = ({ taskId, attempt, worker, handle }: Launch) => ({ task: taskId, attempt, launchedBy: worker, handle })
