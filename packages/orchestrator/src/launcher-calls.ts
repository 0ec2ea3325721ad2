// A launcher as the services call it: it is somebody else's code, so that each call has an end, and what it says of a launch is
// checked before anything is done about it. One launch that it can't tell of must not stop the others.

import type { LaunchOutcome, LaunchRef, LaunchSighting, LossCause } from '@reprise/core'
import { boundedCall } from './bounded-call.ts'
import type { LaunchSettings } from './launch-settings.ts'

const LOOK_MS_MAX = 10_000
/** Two looks, one at all and one at each, take less than it takes until leases must be renewed. */
const LOOK_SHARE_OF_LEASE = 1 / 4
/** Beside the grace time. */
const END_MS = 10_000
const FORGET_MS = 10_000
/** One at whose look a launcher hung is not asked about again for so long. */
const HUNG_MS = 30_000
/** How many launches are told apart in what is told once. */
const TOLD_MAX = 1_000

const UNKNOWN: LaunchSighting = { status: 'unknown' }
const never = new AbortController().signal

export class LauncherCalls {
  readonly #settings: LaunchSettings
  readonly #lookMs: number
  /** Until when they are not asked about. */
  readonly #hung = new Map<string, number>()
  readonly #told = new Set<string>()

  constructor(settings: LaunchSettings) {
    this.#settings = settings
    this.#lookMs = Math.min(LOOK_MS_MAX, settings.leaseMs * LOOK_SHARE_OF_LEASE)
  }

  /** In their order; null if a stop came before the answer. Never throws. */
  async look(refs: readonly LaunchRef[], stop: AbortSignal): Promise<readonly LaunchSighting[] | null> {
    const now = this.#settings.clock.monotonic()
    for (const [key, until] of this.#hung) if (until <= now) this.#hung.delete(key)
    const asked = refs.filter(({ key }) => !this.#hung.has(key))
    const sightings = asked.length === 0 ? [] : await this.#lookAtAll(asked, stop)
    if (sightings === null) return null
    const byKey = new Map(asked.map(({ key }, index) => [key, sightings[index] ?? UNKNOWN]))
    return refs.map(({ key }) => byKey.get(key) ?? UNKNOWN)
  }

  async end(ref: LaunchRef, graceMs: number): Promise<void> {
    const { launcher } = this.#settings
    await this.#inTime('end', graceMs + END_MS, () => launcher.end(ref, graceMs))
  }

  async forget(ref: LaunchRef): Promise<void> {
    await this.#inTime('forget', FORGET_MS, () => this.#settings.launcher.forget(ref))
  }

  /** Without hints if the launcher can't give any. Returns what ends them. */
  listen(listener: (key: string) => void): () => void {
    const { launcher } = this.#settings
    try {
      const stopHearing = launcher.onEnded?.(listener)
      return () => {
        try {
          stopHearing?.()
        } catch (error) {
          this.#report(`Launcher '${launcher.name}' could not stop its hints.`, error)
        }
      }
    } catch (error) {
      this.#report(`Launcher '${launcher.name}' gives no hints; its launches are looked at by the clock.`, error)
      return () => undefined
    }
  }

  async #lookAtAll(refs: readonly LaunchRef[], stop: AbortSignal): Promise<readonly LaunchSighting[] | null> {
    const sightings = await this.#lookOnce(refs, stop)
    if (sightings !== null || stop.aborted) return sightings
    if (refs.length === 1) return [UNKNOWN]
    // Which of them is it?
    const each = await Promise.all(refs.map((ref) => this.#lookOnce([ref], stop)))
    return stop.aborted ? null : each.map((one) => one?.[0] ?? UNKNOWN)
  }

  /** Null if there was no answer. */
  async #lookOnce(refs: readonly LaunchRef[], stop: AbortSignal): Promise<readonly LaunchSighting[] | null> {
    const { launcher, clock } = this.#settings
    const [first] = refs
    const only = refs.length === 1 ? first : undefined
    try {
      const answer = await boundedCall(() => launcher.look(refs), { clock, withinMs: this.#lookMs, stop })
      if (answer.kind === 'stopped') return null
      if (answer.kind === 'too_late') {
        if (only !== undefined) {
          this.#hung.set(only.key, clock.monotonic() + HUNG_MS)
          this.#tellOnce(only.key, new Error(`look() did not come back within ${this.#lookMs} ms.`))
        }
        return null
      }
      const given: unknown = answer.value
      if (!Array.isArray(given)) throw new TypeError('look() must give a list.')
      return refs.map(({ key }, index) => this.#checked(key, given[index]))
    } catch (error) {
      if (only !== undefined) this.#tellOnce(only.key, error)
      return null
    }
  }

  #checked(key: string, given: unknown): LaunchSighting {
    const sighting = sightingOf(given)
    if (sighting === null) this.#tellOnce(key, new TypeError('look() gave something that is no sighting of a launch.'))
    else this.#told.delete(key)
    return sighting ?? UNKNOWN
  }

  /** Until it is known again. */
  #tellOnce(key: string, error: unknown): void {
    if (this.#told.has(key) || this.#told.size >= TOLD_MAX) return
    this.#told.add(key)
    this.#report(
      `Launcher '${this.#settings.launcher.name}' can't tell what became of '${key}'; it counts as unknown.`,
      error,
    )
  }

  #report(words: string, error: unknown): void {
    this.#settings.log.warn(words, { error })
    this.#settings.onError(error)
  }

  async #inTime(name: string, withinMs: number, call: () => Promise<void>): Promise<void> {
    const { clock, launcher } = this.#settings
    const { kind } = await boundedCall(call, { clock, withinMs, stop: never })
    if (kind !== 'answered')
      throw new Error(`${name}() of launcher '${launcher.name}' did not come back within ${withinMs} ms.`)
  }
}

/** Null if it is none. */
function sightingOf(given: unknown): LaunchSighting | null {
  if (!isRecord(given)) return null
  const { status, handle, outcome, cause } = given
  switch (status) {
    case 'vanished':
      return isCause(cause) ? { status, cause } : { status }
    case 'never':
    case 'unknown':
      return { status }
    case 'running':
      return typeof handle === 'string' ? { status, handle } : null
    case 'ended':
      return typeof handle === 'string' && isOutcome(outcome) ? { status, handle, outcome } : null
    default:
      return null
  }
}

const CAUSE_CODE = /^[\w.:-]{1,100}$/

const isCause = (given: unknown): given is LossCause =>
  isRecord(given) && typeof given.code === 'string' && CAUSE_CODE.test(given.code) && typeof given.message === 'string'

function isOutcome(given: unknown): given is LaunchOutcome {
  if (!isRecord(given)) return false
  const { ok, result } = given
  return ok === false || (ok === true && (result === null || isJsonText(result)))
}

function isJsonText(given: unknown): boolean {
  if (typeof given !== 'string') return false
  try {
    JSON.parse(given)
    return true
  } catch {
    return false
  }
}

const isRecord = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null
