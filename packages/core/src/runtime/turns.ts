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
  /** When the slice began; null if no paced work was done yet since the rest. */
  #beganAt: number | null = null

  constructor(clock: Pick<Clock, 'monotonic' | 'soon'>) {
    this.#clock = clock
  }

  /** Whether the slice is used up: then `wait`. Asked right before a step: whatever comes in between is not counted. */
  get isSpent(): boolean {
    const now = this.#clock.monotonic()
    if (this.#beganAt === null) {
      this.#begin(now)
      return false
    }
    return now - this.#beganAt >= SLICE_MS
  }

  /** Resolves in a turn that has some of its slice left. */
  wait(): Promise<void> {
    if (this.#beganAt === null) this.#begin(this.#clock.monotonic())
    const turn = new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      this.#callNext()
    })
    return this.onGoOn === null ? turn : turn.then(this.onGoOn)
  }

  #begin(now: number): void {
    this.#beganAt = now
    this.#clock.soon(() => this.#rest(this.isSpent ? REST_TURNS : 0))
  }

  /** A turn in which nobody has anything to do is over at once: only those who have are let past. */
  #rest(turns: number): void {
    if (turns === 0) this.#beganAt = null
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
