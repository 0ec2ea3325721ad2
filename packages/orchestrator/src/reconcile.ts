// The reconciliation of one launch pool (A11, A15): asks the launcher what became of every launch the store knows of, and
// brings both in line. Launches of this process are looked at each time; those of others only when their leases are not
// renewed, so that a process that died leaves nothing behind. What is decided about each is in reconcile-one.ts.

import {
  type Clock,
  type Launch,
  type LaunchSighting,
  type LeaseToken,
  launchKey,
  PAGE_LIMIT_MAX,
  present,
  type Service,
  WakeUp,
} from '@reprise/core'
import { HoldOff } from './hold-off.ts'
import { type LaunchOptions, type LaunchSettings, launchSettings } from './launch-settings.ts'
import { LauncherCalls } from './launcher-calls.ts'
import { openLeaseCredentials } from './lease-credentials.ts'
import { type Sighted, toLookAt, verdictOn } from './reconcile-one.ts'
import { ReconcileSteps } from './reconcile-steps.ts'
import { createLoop, jitteredMs, type Run } from './service.ts'

/** What one question to a launcher is about, at the most. */
const LOOK_MAX = 200

export function createReconcile(options: LaunchOptions): Service {
  const settings = launchSettings(options, 'reconciliation', 'createReconcile')
  return createLoop('reconcile', settings, () => new ReconcileRun(settings))
}

class ReconcileRun implements Run {
  readonly #settings: LaunchSettings
  readonly #clock: Clock
  readonly #calls: LauncherCalls
  readonly #steps: ReconcileSteps
  readonly #hints = new WakeUp()
  readonly #hinted = new Set<string>()
  readonly #stopListening: () => void
  readonly #holdOff: HoldOff
  #nextPassAt: number
  /** The store's time, as of a moment of the own clock. */
  #storeTime: { readonly now: number; readonly monotonic: number } | null = null

  constructor(settings: LaunchSettings) {
    this.#settings = settings
    this.#clock = settings.clock
    this.#calls = new LauncherCalls(settings)
    this.#steps = new ReconcileSteps(settings, this.#calls)
    this.#holdOff = new HoldOff(settings.clock, settings.graceMs)
    this.#nextPassAt = settings.clock.monotonic()
    const hear = (key: string): void => {
      this.#hinted.add(key)
      this.#hints.call()
    }
    const stopHearing = this.#calls.listen(hear)
    // A short run may have ended before its launch came back.
    settings.ledger.onStarted = (key) => this.#hinted.has(key) && this.#hints.call()
    this.#stopListening = () => {
      stopHearing()
      settings.ledger.onStarted = null
    }
  }

  async round(signal: AbortSignal): Promise<number> {
    if (this.#clock.monotonic() >= this.#nextPassAt) await this.#pass(signal)
    else await this.#followHints(signal)
    const restMs = this.#nextPassAt - this.#clock.monotonic()
    if (restMs > 0) await this.#hints.waitFor(this.#clock, restMs, signal)
    return 0
  }

  troubled(delayMs: number): void {
    this.#holdOff.troubled(delayMs)
  }

  async leave(): Promise<void> {
    this.#stopListening()
    await this.#steps.allEnded()
  }

  /** Everything the store knows of, and everything of the ledger that it does not know. */
  async #pass(signal: AbortSignal): Promise<void> {
    const { engine, ledger } = this.#settings
    const unlisted = new Map(ledger.launches())
    let cursor: string | undefined
    do {
      const askedAt = this.#clock.monotonic()
      const page = await engine.launches({ pool: ledger.pool, limit: PAGE_LIMIT_MAX, ...present({ cursor }) })
      if (cursor === undefined) this.#observe(page.now, askedAt)
      for (const launch of page.items) {
        const key = launchKey(launch)
        const own = unlisted.get(key)
        if (own?.token !== launch.token) continue
        unlisted.delete(key)
        ledger.adopt(key, { ...own, ...launch, handle: launch.handle ?? own.handle })
      }
      await this.#look(page.items, page.now, signal)
      cursor = page.next ?? undefined
    } while (cursor !== undefined && !signal.aborted)
    if (!signal.aborted && unlisted.size > 0) await this.#lookAtUnlisted([...unlisted.values()], signal)
    const { intervalMs, random } = this.#settings
    const plannedMs = jitteredMs(intervalMs, random)
    this.#holdOff.planned(plannedMs)
    this.#nextPassAt = this.#clock.monotonic() + plannedMs
  }

  /** Launches that may have ended just now: they need not wait for the next pass. */
  async #followHints(signal: AbortSignal): Promise<void> {
    const { ledger } = this.#settings
    const launches = [...this.#hinted].flatMap((key) => ledger.get(key) ?? [])
    for (const key of this.#hinted) if (!ledger.isLaunching(key)) this.#hinted.delete(key)
    if (launches.length > 0) await this.#look(launches, this.#storeNow(), signal)
  }

  async #look(launches: readonly Launch[], now: number, signal: AbortSignal): Promise<void> {
    const { engine, ledger, leaseMs } = this.#settings
    const candidates = launches.flatMap((launch): Omit<Sighted, 'sighting'>[] => {
      const key = launchKey(launch)
      const own = ledger.get(key)
      const isOwn = own?.token === launch.token
      const known = isOwn && launch.handle === null ? { ...launch, handle: own.handle } : launch
      const candidate = { key, launch: known, isOwn, isNoted: launch.handle !== null }
      const isWanted = toLookAt(candidate, { now, leaseMs, isLaunching: ledger.isLaunching(key) })
      return isWanted && !this.#steps.isEnding(key) ? [candidate] : []
    })
    if (candidates.length === 0) return
    const credentials = await openLeaseCredentials(engine, this.#clock)
    const mayTakeAway = this.#holdOff.remainingMs({ now }) === 0
    for (let start = 0; start < candidates.length; start += LOOK_MAX) {
      const batch = candidates.slice(start, start + LOOK_MAX)
      // As in their orders.
      const refs = batch.map(({ key, launch }) => {
        return { key, handle: launch.handle, token: credentials.issue(launch) as LeaseToken }
      })
      const sightings = await this.#calls.look(refs, signal)
      if (sightings === null) return
      const verdicts = batch.map((candidate, index) => {
        const sighting: LaunchSighting = sightings[index] ?? { status: 'unknown' }
        const sighted = { ...candidate, sighting }
        return { sighted, verdict: verdictOn(sighted, { now, leaseMs, mayTakeAway }) }
      })
      await this.#steps.take(verdicts, now)
    }
  }

  /** Of the ledger, and not in the store's list: ended by somebody else, as a rule. The lease tells. */
  async #lookAtUnlisted(launches: readonly Launch[], signal: AbortSignal): Promise<void> {
    const held = await this.#steps.stillHeld(launches.filter((launch) => !this.#steps.isEnding(launchKey(launch))))
    if (held.length > 0) await this.#look(held, this.#storeNow(), signal)
  }

  /** After missing time, other processes may be about to renew: what looks abandoned is theirs for a while. */
  #observe(storeNow: number, askedAt: number): void {
    this.#storeTime = { now: storeNow, monotonic: this.#clock.monotonic() }
    this.#holdOff.observe(storeNow, askedAt)
  }

  #storeNow(): number {
    if (this.#storeTime === null) return this.#clock.now()
    return this.#storeTime.now + (this.#clock.monotonic() - this.#storeTime.monotonic)
  }
}
