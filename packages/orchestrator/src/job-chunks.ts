// The chunks of one job that are in the store and have not ended, as one service knows them: which have ended since it looked
// last. They end nearly in the order in which they were handed in, so a look begins at the oldest and goes on while it finds ends.
// Now and then it looks at all of them, so that none is forgotten behind a slow one. Counts nothing: that is the runner's.

import { type Clock, chunkId, END_STATUSES, type Engine, type TaskId, type TaskStatus } from '@reprise/core'

/** Chunks per call to the store. */
const LOOK = 200
/** A look goes on while this share of the chunks it found had ended. */
const WORTH = 0.25
const WHOLE_LOOK_EVERY_MS = 1_000

export interface Ends {
  readonly succeeded: number
  readonly failed: number
}

export class OpenChunks {
  readonly #engine: Pick<Engine, 'statuses'>
  readonly #clock: Clock
  readonly #job: string
  /** Sorted. */
  places: readonly number[]
  #wholeLookAt: number

  constructor(engine: Pick<Engine, 'statuses'>, clock: Clock, job: string, places: readonly number[]) {
    this.#engine = engine
    this.#clock = clock
    this.#job = job
    this.places = places
    this.#wholeLookAt = clock.monotonic()
  }

  get oldest(): readonly TaskId[] {
    return this.places.slice(0, LOOK).map((place) => chunkId(this.#job, place))
  }

  /** Takes out what has ended. `isWhole` looks at all of them. */
  async look(isWhole: boolean): Promise<Ends> {
    const now = this.#clock.monotonic()
    const isDue = isWhole || now - this.#wholeLookAt >= WHOLE_LOOK_EVERY_MS
    if (isDue) this.#wholeLookAt = now
    const before = this.places
    const left: number[] = []
    let [succeeded, failed, at] = [0, 0, 0]
    for (let isWorth = true; at < before.length && (isDue || isWorth); at += LOOK) {
      const some = before.slice(at, at + LOOK)
      const statuses = await statusesOf(this.#engine, this.#job, some)
      const leftBefore = left.length
      for (const [index, place] of some.entries()) {
        const status = statuses[index] ?? null
        if (status === 'succeeded') succeeded++
        else if (status === null || END_STATUSES.has(status)) failed++
        else left.push(place)
      }
      isWorth = left.length - leftBefore <= some.length * (1 - WORTH)
    }
    if (succeeded + failed > 0) this.places = [...left, ...before.slice(at)]
    return { succeeded, failed }
  }
}

/** How the tasks of these chunks stand; null for one that is gone. */
export function statusesOf(
  engine: Pick<Engine, 'statuses'>,
  job: string,
  places: readonly number[],
): Promise<readonly (TaskStatus | null)[]> {
  return engine.statuses(places.map((place) => chunkId(job, place)))
}
