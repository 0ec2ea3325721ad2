// How long requests wait for the store. An engine repeats a call for many seconds while its server is away, which is right for
// workers. Somebody who sits in front of a request wants to know sooner. So each call is watched: if it takes long, the store is
// asked for the time, and if that is not answered either, the store is away and the calls that wait are refused. A store that is
// only slow answers the question, and its calls go on. The call itself goes on as well: nobody knows whether it took effect.
//
// Ages are counted in beats of one timer, not by a clock: a process that is short of processor time beats slower, and does
// not blame the store for it. The timer runs only while calls are under way.

import { type Engine, StoreBusyError, systemClock } from '@reprise/core'

/** The longest that a request waits for a store that is away. */
const STORE_PATIENCE_MS = 1_800
const BEATS = 8
/** From this age on a call makes the store suspect. */
const SUSPECT_BEATS = 3
/** For so long the store may take to say what time it is. */
const PROBE_BEATS = 4

interface Waiting {
  beats: number
  readonly refuse: (error: unknown) => void
}

interface Probe {
  beats: number
}

/** These wait on purpose, ask no store, or give something that has verbs of its own. */
const UNWATCHED = new Set(['wait', 'mark', 'close', 'collection'])

const NAMES: Readonly<Record<string, string>> = { redis: 'Redis', sqlite: 'SQLite' }

/** The store as messages to callers name it: by its kind, not by its address. */
export const storeName = ({ info }: Pick<Engine, 'info'>): string => `The store (${NAMES[info.kind] ?? info.kind})`

export class StorePatience {
  readonly #engine: Engine
  readonly #beatMs: number
  readonly #waiting = new Set<Waiting>()
  #isBeating = false
  #probe: Probe | null = null

  constructor(engine: Engine, patienceMs: number = STORE_PATIENCE_MS) {
    this.#engine = engine
    this.#beatMs = patienceMs / BEATS
  }

  /** The engine, with its calls watched. */
  watched(): Engine {
    const engine = this.#engine
    const view = this.#view(engine, UNWATCHED)
    define(view, 'journal', this.#view(engine.journal))
    define(view, 'collection', (...input: Parameters<Engine['collection']>) => this.#view(engine.collection(...input)))
    return view
  }

  #view<T extends object>(owner: T, unwatched: ReadonlySet<string> = new Set()): T {
    const view = Object.create(owner) as T
    for (const name of Object.keys(owner)) {
      if (typeof Reflect.get(owner, name) !== 'function') continue
      const isWatched = !unwatched.has(name)
      define(view, name, (...input: unknown[]): unknown => {
        const verb = Reflect.get(owner, name) as (...given: unknown[]) => unknown
        const answer = Reflect.apply(verb, owner, input)
        return isWatched && answer instanceof Promise ? this.#within(answer) : answer
      })
    }
    return view
  }

  /** One promise for each call, made by hand: this stands before every request, and a race makes several. */
  #within(answer: Promise<unknown>): Promise<unknown> {
    const { promise, resolve, reject: refuse } = Promise.withResolvers<unknown>()
    const waiting: Waiting = { beats: 0, refuse }
    this.#waiting.add(waiting)
    if (!this.#isBeating) this.#beatLater()
    const end = (tell: (outcome: unknown) => void) => (outcome: unknown) => {
      this.#waiting.delete(waiting)
      tell(outcome)
    }
    answer.then(end(resolve), end(refuse))
    return promise
  }

  #beatLater(): void {
    this.#isBeating = true
    systemClock.after(this.#beatMs, () => this.#beat())
  }

  #beat(): void {
    this.#isBeating = false
    if (this.#waiting.size === 0) return
    this.#beatLater()
    for (const waiting of this.#waiting) waiting.beats++
    const [oldest] = this.#waiting
    if (this.#probe !== null) this.#probe.beats++
    else if (oldest !== undefined && oldest.beats >= SUSPECT_BEATS) this.#ask()
    if (this.#probe !== null && this.#probe.beats >= PROBE_BEATS) this.#refuse()
  }

  /** An answer of any kind ends the suspicion; the next beat begins another one if there is reason to. */
  #ask(): void {
    const probe: Probe = { beats: 0 }
    this.#probe = probe
    const end = (): void => {
      if (this.#probe === probe) this.#probe = null
    }
    this.#engine.now().then(end, end)
  }

  #refuse(): void {
    const error = new StoreBusyError(`${storeName(this.#engine)} does not answer.`)
    for (const waiting of this.#waiting) {
      if (waiting.beats < SUSPECT_BEATS) continue
      this.#waiting.delete(waiting)
      waiting.refuse(error)
    }
  }
}

/** Defined, not set: an engine that is observed hands on what is set to the engine behind it. */
function define(view: object, name: string, value: unknown): void {
  Object.defineProperty(view, name, { value, enumerable: true, writable: true, configurable: true })
}
