// Who holds the event loop. A process has one loop: a request that works on it for long keeps everybody waiting. What a request does
// in one turn of the loop is added up, and more than 20 ms is counted and logged with the route. When a request has the loop is
// told by `mark`: when it comes, when its body is parsed, when its handler begins, whenever the store has answered it, and
// when it goes on after it left turns to others. It has the loop until somebody else has it, or the turn ends.
//
// A store that commits for many at once works for nobody in particular. That is counted as the store's, with the verb.
//
// Beside that the delay of the loop as a whole is measured, whoever is to blame: work of no request, garbage collection, a busy host.
// Time in which the processor was with other processes is in all of these but in `maxWorkMs`.

import { AsyncLocalStorage } from 'node:async_hooks'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Engine, Logger, Turns } from '@reprise/core'
import { CATALOGUE } from './catalogue.ts'
import { counter, gauge, type MetricsRegistry } from './registry.ts'

/** No request may hold the loop for longer. */
export const LOOP_HELD_MS_MAX = 20
const RESOLUTION_MS = 10
/** A loop that had nothing to do for longer waited for the store, which did not work on it. */
const IDLE_MS = 1
/** One line in this time for each route. */
const LOG_EVERY_MS = 10_000
const ROUTES_MAX = 1_000

export interface LoopReading {
  /** The longest that a request held the loop, and its route; null if there was none. */
  readonly longest: { readonly route: string; readonly ms: number } | null
  /** How often a request held the loop for longer than LOOP_HELD_MS_MAX. */
  readonly held: number
  /** The most that the processor worked in one turn in which a request or the store held the loop; 0 if none did. */
  readonly maxWorkMs: number
  /** The longest that anything kept the loop from its next turn. */
  readonly maxDelayMs: number
}

export interface LoopWatchOptions {
  readonly metrics: MetricsRegistry
  readonly log: Logger
}

interface Told {
  at: number
  /** Not logged since then. */
  more: number
}

/** What a request has done in one turn of the loop. */
interface Work {
  readonly route: string
  turn: number
  ms: number
}

export class LoopWatch {
  readonly #log: Logger
  readonly #count: (route: string) => void
  readonly #requests = new AsyncLocalStorage<Work>()
  #turns: Turns | null = null
  readonly #delays = new Delays()
  readonly #scraped = new Delays()
  readonly #told = new Map<string, Told>()
  /** Whose work it is now; null for nobody's. */
  #work: Work | null = null
  #since = 0
  /** How long the loop had had nothing to do at that time; taken when nobody's work begins. */
  #idleMs = 0
  #turn = 0
  #isTurnWatched = false
  #turnCpuMs = 0
  /** Those of this turn that took too long. */
  readonly #over = new Set<Work>()
  #longest: LoopReading['longest'] = null
  #held = 0
  #maxWorkMs = 0

  constructor({ metrics, log }: LoopWatchOptions) {
    this.#log = log
    const held = counter(metrics, CATALOGUE.loopHeld)
    this.#count = (route) => held.inc({ route })
    const longest = gauge(metrics, CATALOGUE.maxLoopDelay, async () => {
      longest.set(this.#scraped.maxMs / 1_000)
      this.#scraped.forget()
    })
  }

  /** From now on, up to the next mark or the end of this turn, the loop works for a request of this route. */
  mark(route: string): void {
    this.#turns?.othersWork()
    this.#begin({ route, turn: this.#turn, ms: 0 })
  }

  /** Runs a handler. What it does after the store has answered is the same request's, too. */
  run<T>(route: string, handle: () => T): T {
    const work = { route, turn: this.#turn, ms: 0 }
    this.#turns?.othersWork()
    this.#begin(work)
    return this.#requests.run(work, handle)
  }

  /** An engine whose answers mark the work of the request that waited for them. */
  watched(engine: Engine): Engine {
    const view = Object.create(engine) as Engine
    for (const name of Object.keys(engine)) {
      if (typeof Reflect.get(engine, name) !== 'function' || UNWATCHED.has(name)) continue
      const answered = (value: unknown): unknown => {
        this.#answered(name)
        return value
      }
      const value = (...input: unknown[]): unknown => {
        const verb = Reflect.get(engine, name) as (...given: unknown[]) => unknown
        const answer = Reflect.apply(verb, engine, input)
        return answer instanceof Promise ? answer.then(answered) : answer
      }
      // Defined, not set: an engine that is observed hands on what is set to the engine behind it.
      Object.defineProperty(view, name, { value, enumerable: true, writable: true, configurable: true })
    }
    return view
  }

  /** Requests that leave turns to others are marked when they go on. All that works without such turns comes before them. */
  watchTurns(turns: Turns): void {
    turns.onGoOn = () => this.#begin(this.#requests.getStore() ?? null)
    turns.shareWithOthers()
    this.#turns = turns
  }

  read(): LoopReading {
    return {
      longest: this.#longest,
      held: this.#held,
      maxWorkMs: this.#maxWorkMs,
      maxDelayMs: this.#delays.maxMs,
    }
  }

  /** Begins anew: for those who measure one thing after the other. */
  forget(): void {
    this.#longest = null
    this.#held = 0
    this.#maxWorkMs = 0
    this.#delays.forget()
  }

  open(): void {
    this.#delays.open()
    this.#scraped.open()
  }

  close(): void {
    this.#delays.close()
    this.#scraped.close()
  }

  #begin(work: Work | null): void {
    const now = performance.now()
    if (this.#work !== null) this.#end(this.#work, now - this.#since)
    this.#work = work
    this.#since = now
    if (work === null) {
      this.#idleMs = performance.eventLoopUtilization().idle
      return
    }
    if (!this.#isTurnWatched) {
      this.#isTurnWatched = true
      this.#turnCpuMs = cpuMs()
      setImmediate(this.#endTurn)
    }
    if (work.turn === this.#turn) return
    work.turn = this.#turn
    work.ms = 0
  }

  #answered(verb: string): void {
    // The store alone was at work since the last turn ended, unless the loop had nothing to do meanwhile.
    if (this.#work === null && this.#since > 0) {
      const ms = performance.now() - this.#since
      const isAtWork = ms > LOOP_HELD_MS_MAX && performance.eventLoopUtilization().idle - this.#idleMs < IDLE_MS
      if (isAtWork) this.#tooLong(`store: ${verb}`, ms, cpuMs() - this.#turnCpuMs)
    }
    this.#turns?.othersWork()
    this.#begin(this.#requests.getStore() ?? null)
  }

  readonly #endTurn = (): void => {
    this.#begin(null)
    this.#isTurnWatched = false
    this.#turn++
    if (this.#over.size > 0) {
      const workMs = cpuMs() - this.#turnCpuMs
      for (const { route, ms } of this.#over) this.#tooLong(route, ms, workMs)
      this.#over.clear()
    }
    this.#turnCpuMs = cpuMs()
  }

  #end(work: Work, ms: number): void {
    work.ms += ms
    if (work.ms > (this.#longest?.ms ?? 0)) this.#longest = { route: work.route, ms: work.ms }
    if (work.ms > LOOP_HELD_MS_MAX) this.#over.add(work)
  }

  #tooLong(route: string, ms: number, workMs: number): void {
    const worked = Math.min(ms, workMs)
    if (ms > (this.#longest?.ms ?? 0)) this.#longest = { route, ms }
    this.#maxWorkMs = Math.max(this.#maxWorkMs, worked)
    this.#held++
    this.#count(route)
    this.#tell(route, ms)
  }

  #tell(route: string, ms: number): void {
    const now = performance.now()
    const told = this.#told.get(route)
    if (told !== undefined && now - told.at < LOG_EVERY_MS) {
      told.more++
      return
    }
    if (this.#told.size >= ROUTES_MAX) this.#told.clear()
    this.#told.set(route, { at: now, more: 0 })
    this.#log.warn('A request held the event loop: everybody else had to wait.', {
      event: 'loop.held',
      route,
      held_ms: Math.round(ms),
      held_before: told?.more ?? 0,
    })
  }
}

/** How long this thread has been at work. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** These wait, ask no store, or give something that has verbs of its own. */
const UNWATCHED = new Set(['wait', 'mark', 'collection', 'close'])

/** Node looks at the loop by itself, without a turn of ours. */
class Delays {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })

  get maxMs(): number {
    const { max } = this.#histogram
    return max === 0 ? 0 : Math.max(max / 1e6 - RESOLUTION_MS, 0)
  }

  forget(): void {
    this.#histogram.reset()
  }

  open(): void {
    this.#histogram.enable()
  }

  close(): void {
    this.#histogram.disable()
  }
}
