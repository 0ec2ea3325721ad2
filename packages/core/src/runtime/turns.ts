// Turns of the event loop. Work that may be long is done in small steps, and asks before each whether its turn is over: all such
// work of a process together has one slice of time, and then rests, so that whatever else the process does is never kept
// waiting for long. It rests until everything else is done: until a few turns of the loop have passed in which nobody else
// worked. While others always have something to do, it rests for a multiple of the time that it took. So a request that
// takes several turns meets paced work once or twice, and not in each of its turns. Who waits comes in the order of
// asking, one after the other while a slice lasts.

import type { Clock } from './clock.ts'

/** How long paced work goes on before everything else has its turn, and how many turns without other work end its rest. */
export const SLICE_MS = 5
export const REST_TURNS = 4
/** The same where others tell when they work. A short request takes several turns, and in some of them only waits. */
export const SHARED_SLICE_MS = 2
export const SHARED_REST_TURNS = 8
/** A rest ends after this multiple of the slice before it, whatever else there is to do. */
export const REST_FACTOR = 3
/** Where time stands still, as in tests, a rest ends all the same. */
const REST_TURNS_MAX = 1_000
/** More are hardly done in one slice. */
const CALLS_MAX = 32

interface Rest {
  /** When it ends at the latest. */
  readonly until: number
  /** How many turns in a row had no other work. */
  readonly quiet: number
  readonly turns: number
}

export class Turns {
  readonly #clock: Pick<Clock, 'monotonic' | 'soon'>
  readonly #waiting: (() => void)[] = []
  /** Calls that are due in the next turn, each for one of those who wait. */
  #calls = 0
  /** Told when somebody goes on after a wait, in their own asynchronous context. */
  onGoOn: (() => void) | null = null
  /** How much of the slice is used up; null if no paced work was done yet since the rest. */
  #usedMs: number | null = null
  /** When the step that is under way began, or went on; null between steps. */
  #stepAt: number | null = null
  /** Whether anybody else has worked in this turn of the loop. */
  #isBusy = false
  #sliceMs = SLICE_MS
  #restTurns = REST_TURNS

  constructor(clock: Pick<Clock, 'monotonic' | 'soon'>) {
    this.#clock = clock
  }

  /** Whether the slice is used up: then `wait`. Asked right before a step, which lasts until the next question or `stepDone`. */
  get isSpent(): boolean {
    const usedMs = this.#count()
    this.#stepAt = this.#clock.monotonic()
    return usedMs >= this.#sliceMs
  }

  /** What the process does until the next question is other work, and not counted: many small steps lie far apart. */
  stepDone(): void {
    this.#count()
    this.#stepAt = null
  }

  /** From now on `othersWork` is told whenever others work: slices are smaller, and a rest lasts until the others are done. */
  shareWithOthers(): void {
    this.#sliceMs = SHARED_SLICE_MS
    this.#restTurns = SHARED_REST_TURNS
  }

  /** Somebody else works in this turn of the loop from now on. What they take is no step of paced work. */
  othersWork(): void {
    this.#isBusy = true
    if (this.#stepAt !== null) this.stepDone()
  }

  /** Resolves in a turn that has some of its slice left. */
  wait(): Promise<void> {
    this.#count()
    const turn = new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      this.#callNext()
    })
    return this.onGoOn === null ? turn : turn.then(this.onGoOn)
  }

  /** Adds the step that is under way, and begins a slice if there is none. */
  #count(): number {
    if (this.#usedMs === null) {
      this.#usedMs = 0
      this.#stepAt = null
      this.#clock.soon(() => this.#endTurn())
    } else if (this.#stepAt !== null) {
      const now = this.#clock.monotonic()
      this.#usedMs += now - this.#stepAt
      this.#stepAt = now
    }
    return this.#usedMs
  }

  #endTurn(): void {
    const usedMs = this.#count()
    if (usedMs < this.#sliceMs) {
      this.#usedMs = null
      return
    }
    const now = this.#clock.monotonic()
    this.#isBusy = false
    this.#rest({ until: now + usedMs * REST_FACTOR, quiet: 0, turns: 0 })
  }

  /** A turn in which nobody has anything to do is over at once: only those who have are let past. */
  #rest({ until, quiet, turns }: Rest): void {
    const isOver = quiet >= this.#restTurns || turns >= REST_TURNS_MAX || this.#clock.monotonic() >= until
    if (isOver) {
      this.#usedMs = null
      return
    }
    this.#clock.soon(() => {
      const next = { until, quiet: this.#isBusy ? 0 : quiet + 1, turns: turns + 1 }
      this.#isBusy = false
      this.#rest(next)
    })
  }

  /** A call of its own for each: what one of them does at once is done before the next is called, and so counts. */
  #callNext(): void {
    if (this.#calls >= Math.min(this.#waiting.length, CALLS_MAX)) return
    this.#calls++
    this.#clock.soon(() => {
      this.#calls--
      if (!this.isSpent) this.#waiting.shift()?.()
      this.#callNext()
    })
  }
}

const byClock = new WeakMap<object, Turns>()

/** The turns of everything that goes by one clock. */
export function turnsOf(clock: Clock): Turns {
  const known = byClock.get(clock)
  if (known !== undefined) return known
  const turns = new Turns(clock)
  byClock.set(clock, turns)
  return turns
}
