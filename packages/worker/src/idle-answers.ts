// What claims that overlap say together. Each of them looked at the store at another moment, and of several partitions at
// another one in each. So "nothing is due" of one does not take back what another one found: the earlier time counts, and
// one that left something behind counts most. A claim without another beside it says what is so.

import type { Idle, Mark } from '@reprise/core'

/** A claim on its way: which answers had come when it left. */
export type Departure = number

export class IdleAnswers {
  #answers = 0
  #last: Idle | null = null

  depart(): Departure {
    return this.#answers
  }

  /** What to wait for after this answer; null if there may be something to claim right now. */
  answered(departure: Departure, idle: Idle | null): Idle | null {
    const hasOverlapped = departure !== this.#answers
    this.#answers++
    this.#last = hasOverlapped ? together(this.#last, idle) : idle
    return this.#last
  }
}

function together(one: Idle | null, other: Idle | null): Idle | null {
  if (one === null || other === null) return null
  return {
    since: Math.min(one.since, other.since) as Mark,
    dueAt: earlier(one.dueAt, other.dueAt),
    heldBack: other.heldBack,
  }
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)
