// What one transaction counted for the series: per lane, in the minute of the transaction. Written once, at its end.

import { SERIES_STEP_MS, type SeriesPoint } from '@reprise/core'
import type { Database } from './database.ts'

/** What is counted, in the order of addMinute. */
const FLOWS = [
  'accepted',
  'started',
  'succeeded',
  'failed',
  'lost',
  'retried',
  'dead',
  'cancelled',
] as const satisfies (keyof SeriesPoint)[]
export type Flow = (typeof FLOWS)[number]

export class Minutes {
  readonly #db: Database
  readonly #minute: number
  readonly #counts = new Map<number, Record<Flow, number>>()
  /** By lane: the attempts that started in this minute and in the one before, as they are stored. */
  readonly #started = new Map<number, readonly [now: number, before: number]>()

  constructor(db: Database, now: number) {
    this.#db = db
    this.#minute = Math.floor(now / SERIES_STEP_MS)
  }

  count(lane: number, flow: Flow, by: number): void {
    let counts = this.#counts.get(lane)
    if (counts === undefined) {
      counts = { accepted: 0, started: 0, succeeded: 0, failed: 0, lost: 0, retried: 0, dead: 0, cancelled: 0 }
      this.#counts.set(lane, counts)
    }
    counts[flow] += by
  }

  /** Attempts that started in a lane in this minute or in the one before, whichever had more. */
  startedLately(lane: number): number {
    let started = this.#started.get(lane)
    if (started === undefined) {
      const written = (minute: number): number =>
        this.#db.get<{ started: number }>('startedIn', minute, lane)?.started ?? 0
      started = [written(this.#minute), written(this.#minute - 1)]
      this.#started.set(lane, started)
    }
    return Math.max(started[0] + (this.#counts.get(lane)?.started ?? 0), started[1])
  }

  flush(): void {
    for (const [lane, counts] of this.#counts) {
      this.#db.run('addMinute', this.#minute, lane, ...FLOWS.map((flow) => counts[flow]))
    }
    this.#counts.clear()
    this.#started.clear()
  }
}
