// What claims that overlap say together. Each of them looked at the store at another moment, and of several partitions at
// another one in each. So "nothing is due" of one does not take back what another one found to be due: the earlier time counts.
// Whether something is left to claim right now, the claim that left last knows best. A claim without another beside it says
// what is so.

import type { Idle } from '@reprise/core'

/** A claim on its way: its number, and which answers had come when it left. */
export interface Departure {
  readonly number: number
  readonly answers: number
}

export class IdleAnswers {
  #departures = 0
  #answers = 0
  /** The claim that left last, of those that were answered. */
  #newest = 0
  #last: Idle | null = null

  depart(): Departure {
    return { number: ++this.#departures, answers: this.#answers }
  }

  /** What to wait for after this answer; null if there may be something to claim right now. */
  answered({ number, answers }: Departure, idle: Idle | null): Idle | null {
    const hasOverlapped = answers !== this.#answers
    const isNewest = number > this.#newest
    this.#answers++
    this.#newest = Math.max(number, this.#newest)
    if (!hasOverlapped) this.#last = idle
    else this.#last = isNewest ? together(idle, this.#last) : together(this.#last, idle)
    return this.#last
  }
}

/** What the newer answer says, but that the other one may know of something that is due sooner. */
function together(newer: Idle | null, older: Idle | null): Idle | null {
  if (newer === null || older === null) return newer
  return { ...newer, dueAt: earlier(newer.dueAt, older.dueAt) }
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)
