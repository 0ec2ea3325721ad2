// The launcher on a platform that runs containers: one for all of them, so that each platform says only how it is called. Workers report
// by calling back; what the platform says of a worker that did not is why it was lost.
//
// A launch goes: not void → marked → sent → answered. The mark is with the worker from the start, so a launch whose answer never
// came (a crash, a hang, a broken connection) is found by it: its handle then is the mark. A platform shows a new worker only
// after a while, so one that is missing counts as gone, or as never started, only after it was missed for that long.

import {
  type Clock,
  DuplicateExecutionError,
  type Launched,
  type Launcher,
  type LaunchOrder,
  type LaunchRef,
  type LaunchSighting,
  type LossCause,
  mapLimited,
  quietly,
  sleep,
} from '@reprise/core'
import { monotonicMs } from '../monotonic.ts'
import { launchMark, markedOrder, tokenMark } from './mark.ts'
import type { PlatformSettings } from './options.ts'
import { type Found, type MarkedOrder, type Platform, UnclearStartError, type WorkerState } from './platform.ts'
import { launchVoid } from './refusals.ts'

const FINDS_AT_ONCE = 8
/** Of each memory: what is kept about launches that nobody asks about any more goes first. */
const KEPT_MAX = 20_000
const END_SLACK_MS = 5_000
const POLL_MS_MIN = 50
const POLL_MS_MAX = 2_000
const TELL_EVERY_MS = 60_000

const UNKNOWN: LaunchSighting = { status: 'unknown' }
const MARK_HANDLE = 'mark:'

export class PlatformLauncher implements Launcher {
  readonly name: string
  readonly #platform: Platform
  readonly #settings: PlatformSettings
  readonly #clock: Clock
  readonly #envOf: (order: LaunchOrder) => Readonly<Record<string, string>>
  /** Launched here and not forgotten, by key: the token. */
  readonly #own = new Map<string, string>()
  /** What was seen last, by handle, and when. */
  readonly #seen = new Map<string, { readonly at: number; readonly sighting: LaunchSighting }>()
  /** Why workers ended, by handle: the platform may forget it before the loss is settled. */
  readonly #causes = new Map<string, LossCause>()
  /** Since when a worker is missing, by key and handle. */
  readonly #missedSince = new Map<string, number>()

  #toldAt = Number.NEGATIVE_INFINITY

  /** `envOf` gives what a worker gets beside the variables of its attempt; it may refuse the order. */
  constructor(
    platform: Platform,
    settings: PlatformSettings,
    envOf: (order: LaunchOrder) => Readonly<Record<string, string>>,
  ) {
    this.name = settings.name
    this.#platform = platform
    this.#settings = settings
    this.#clock = settings.clock
    this.#envOf = envOf
  }

  async launch(order: LaunchOrder, signal: AbortSignal): Promise<Launched> {
    signal.throwIfAborted()
    const marked = markedOrder(order, this.#settings.callbackUrl, this.#envOf(order))
    if (this.#own.get(order.key) === order.token) throw new DuplicateExecutionError(order.taskId, order.attempt)
    keep(this.#own, order.key, order.token)
    try {
      if (!this.#platform.recognisesOrders) await this.#refuseTaken(marked, signal)
      return { handle: await this.#start(marked, signal) }
    } catch (error) {
      this.#own.delete(order.key)
      throw error
    }
  }

  async #start(marked: MarkedOrder, signal: AbortSignal): Promise<string> {
    const leftMs = marked.order.voidAt - monotonicMs()
    if (leftMs <= 0) throw launchVoid()
    const withinMs = Math.min(this.#settings.callWithinMs, leftMs)
    try {
      return await this.#call((deadline) => this.#platform.start(marked, deadline), withinMs, signal)
    } catch (error) {
      if (error instanceof UnclearStartError || error instanceof CallGivenUpError) return markHandle(marked.mark.launch)
      throw error
    }
  }

  /** Of a platform that would start a second one. What ended under another token was released, and takes no place. */
  async #refuseTaken({ order, mark }: MarkedOrder, signal: AbortSignal): Promise<void> {
    const found = await this.#call(
      (deadline) => this.#platform.find(mark.launch, deadline, 'latest'),
      undefined,
      signal,
    )
    const isTaken = (found ?? []).some(({ tokenMark: own, state }) => own === mark.token || state.is === 'running')
    if (isTaken) throw new DuplicateExecutionError(order.taskId, order.attempt)
  }

  async look(refs: readonly LaunchRef[]): Promise<readonly LaunchSighting[]> {
    const now = this.#clock.monotonic()
    const fresh = refs.map((ref) => this.#freshSighting(ref, now))
    const named = refs.filter((ref, index) => fresh[index] === null && idOf(ref.handle) !== null)
    const unnamed = refs.filter((ref, index) => fresh[index] === null && idOf(ref.handle) === null)
    const [byId, byMark] = await Promise.all([
      this.#lookAtNamed(named),
      mapLimited(unnamed, FINDS_AT_ONCE, (ref) => this.#lookByMark(ref)),
    ])
    const seen = new Map<LaunchRef, LaunchSighting>()
    for (const [index, ref] of named.entries()) seen.set(ref, byId[index] ?? UNKNOWN)
    for (const [index, ref] of unnamed.entries()) seen.set(ref, byMark[index] ?? UNKNOWN)
    return refs.map((ref, index) => fresh[index] ?? seen.get(ref) ?? UNKNOWN)
  }

  #freshSighting({ handle }: LaunchRef, now: number): LaunchSighting | null {
    const seen = handle === null ? undefined : this.#seen.get(handle)
    return seen !== undefined && now - seen.at < this.#settings.lookEveryMs ? seen.sighting : null
  }

  async #lookAtNamed(refs: readonly LaunchRef[]): Promise<readonly LaunchSighting[]> {
    if (refs.length === 0) return []
    const ids = refs.map(({ handle }) => handle ?? '')
    let states: readonly WorkerState[]
    try {
      states = await this.#call((deadline) => this.#platform.describe(ids, deadline))
    } catch (error) {
      this.#tell(error)
      return refs.map(() => UNKNOWN)
    }
    const now = this.#clock.monotonic()
    return Promise.all(
      refs.map(async (ref, index) => {
        const id = ids[index] ?? ''
        const sighting = await this.#sightingOf(ref, id, states[index] ?? { is: 'unknown' })
        if (sighting.status !== 'unknown') keep(this.#seen, id, { at: now, sighting })
        return sighting
      }),
    )
  }

  /** Of a launch whose handle nobody noted, or whose answer never came. */
  async #lookByMark(ref: LaunchRef): Promise<LaunchSighting> {
    let found: readonly Found[] | null
    try {
      found = await this.#call((deadline) => this.#platform.find(launchMark(ref.key), deadline, 'all'))
    } catch (error) {
      this.#tell(error)
      return UNKNOWN
    }
    if (found === null) return UNKNOWN
    const own = ref.token === undefined ? null : tokenMark(ref.token)
    const [mine] = found.filter(({ tokenMark: mark }) => own === null || mark === own)
    if (mine !== undefined) return this.#sightingOf(ref, mine.id, mine.state)
    // What runs there was released, and may not be answered for.
    if (found.some(({ state }) => state.is === 'running')) return UNKNOWN
    return this.#isMissedLongEnough(ref) ? { status: 'never' } : UNKNOWN
  }

  async #sightingOf(ref: LaunchRef, id: string, state: WorkerState): Promise<LaunchSighting> {
    if (state.is === 'missing') {
      const cause = this.#causes.get(id)
      if (cause !== undefined) return { status: 'vanished', cause }
      return this.#isMissedLongEnough(ref) ? { status: 'vanished' } : UNKNOWN
    }
    this.#missedSince.delete(missKey(ref))
    switch (state.is) {
      case 'running':
        return { status: 'running', handle: id }
      case 'ended':
        keep(this.#causes, id, state.cause)
        return { status: 'vanished', cause: state.cause }
      case 'unknown':
        return UNKNOWN
      case 'stuck':
        // The platform would try for ever: it is told not to before anybody is told that this worker is gone.
        try {
          await this.#call((deadline) => this.#platform.stop(id, 0, deadline))
          keep(this.#causes, id, state.cause)
          return { status: 'vanished', cause: state.cause }
        } catch (error) {
          this.#tell(error)
          return UNKNOWN
        }
    }
  }

  #isMissedLongEnough(ref: LaunchRef): boolean {
    const now = this.#clock.monotonic()
    const since = this.#missedSince.get(missKey(ref))
    if (since === undefined) keep(this.#missedSince, missKey(ref), now)
    return now - (since ?? now) >= this.#settings.visibleWithinMs
  }

  async end({ key, handle }: LaunchRef, graceMs: number): Promise<void> {
    const id = idOf(handle)
    if (id !== null) return this.#endOne(id, graceMs)
    const found = await this.#call((deadline) => this.#platform.find(launchMark(key), deadline, 'all'))
    if (found === null) throw new Error(`Launcher '${this.name}' can't tell which workers run for '${key}'.`)
    await Promise.all(found.filter(({ state }) => isAlive(state)).map((one) => this.#endOne(one.id, graceMs)))
  }

  async #endOne(id: string, graceMs: number): Promise<void> {
    const deadline = this.#clock.monotonic() + graceMs + END_SLACK_MS
    this.#seen.delete(id)
    if ((await this.#stateOf(id)).is === 'ended') return
    await this.#call((signal) => this.#platform.stop(id, graceMs, signal))
    for (let pollMs = POLL_MS_MIN; isAlive(await this.#stateOf(id)); pollMs = Math.min(pollMs * 2, POLL_MS_MAX)) {
      if (this.#clock.monotonic() >= deadline) {
        throw new Error(`The worker '${id}' was told to end, and still runs after ${graceMs + END_SLACK_MS} ms.`)
      }
      await sleep(this.#clock, pollMs, undefined, { hold: true })
    }
  }

  async #stateOf(id: string): Promise<WorkerState> {
    const [state] = await this.#call((signal) => this.#platform.describe([id], signal))
    return state ?? { is: 'unknown' }
  }

  async forget(ref: LaunchRef): Promise<void> {
    const { key, handle } = ref
    this.#own.delete(key)
    this.#missedSince.delete(missKey(ref))
    if (handle !== null) {
      this.#seen.delete(handle)
      this.#causes.delete(handle)
    }
    const id = idOf(handle)
    if (id === null || this.#platform.remove === undefined) return
    await this.#call(async (signal) => this.#platform.remove?.(id, signal))
  }

  close(): Promise<void> {
    this.#platform.close()
    return Promise.resolve()
  }

  #tell(error: unknown): void {
    const now = this.#clock.monotonic()
    if (now - this.#toldAt < TELL_EVERY_MS) return
    this.#toldAt = now
    quietly(() => this.#settings.onError(error))
  }

  /** Ends in time, whatever the platform does. */
  async #call<Answer>(
    call: (signal: AbortSignal) => Promise<Answer>,
    withinMs = this.#settings.callWithinMs,
    stop?: AbortSignal,
  ): Promise<Answer> {
    const controller = new AbortController()
    const givenUp = Promise.withResolvers<never>()
    const giveUp = (): void => {
      givenUp.reject(new CallGivenUpError(`${this.name} did not answer within ${Math.round(withinMs)} ms.`))
      controller.abort()
    }
    const timer = this.#clock.after(withinMs, giveUp, { hold: true })
    stop?.addEventListener('abort', giveUp, { once: true })
    try {
      return await Promise.race([call(controller.signal), givenUp.promise])
    } finally {
      timer.cancel()
      stop?.removeEventListener('abort', giveUp)
    }
  }
}

/** Nobody knows what became of the call. */
class CallGivenUpError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CallGivenUpError'
  }
}

const markHandle = (mark: string): string => `${MARK_HANDLE}${mark}`

/** What the platform calls it; null if only its mark is known. */
const idOf = (handle: string | null): string | null => (handle?.startsWith(MARK_HANDLE) === false ? handle : null)

const missKey = ({ key, handle }: LaunchRef): string => `${handle ?? ''} ${key}`

const isAlive = ({ is }: WorkerState): boolean => is === 'running' || is === 'stuck' || is === 'unknown'

function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= KEPT_MAX) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
