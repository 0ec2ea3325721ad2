// Turns of the event loop. Work that may be long is done in small steps, and asks before each whether its turn is over: all such
// work of a process together has one slice of time in a turn of the loop, and then leaves a few turns to others, so that
// whatever else the process does is never kept waiting for long. Who waits comes in the order of asking, one after the
// other while a slice lasts.

import type { Clock } from './clock.ts'

/** How long paced work goes on before everything else has its turn. */
export const SLICE_MS = 5
/** How many turns of the loop it then leaves to everything else: a short request takes several. */
export const REST_TURNS = 4
/** More are hardly done in one slice. */
const CALLS_MAX = 32

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

  constructor(clock: Pick<Clock, 'monotonic' | 'soon'>) {
    this.#clock = clock
  }

  /** Whether the slice is used up: then `wait`. Asked right before a step, which lasts until the next question or `stepDone`. */
  get isSpent(): boolean {
    const usedMs = this.#count()
    this.#stepAt = this.#clock.monotonic()
    return usedMs >= SLICE_MS
  }

  /** What the process does until the next question is other work, and not counted: many small steps lie far apart. */
  stepDone(): void {
    this.#count()
    this.#stepAt = null
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
      this.#clock.soon(() => this.#rest(this.#count() >= SLICE_MS ? REST_TURNS : 0))
    } else if (this.#stepAt !== null) {
      const now = this.#clock.monotonic()
      this.#usedMs += now - this.#stepAt
      this.#stepAt = now
    }
    return this.#usedMs
  }

  /** A turn in which nobody has anything to do is over at once: only those who have are let past. */
  #rest(turns: number): void {
    if (turns === 0) this.#usedMs = null
    else this.#clock.soon(() => this.#rest(turns - 1))
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
