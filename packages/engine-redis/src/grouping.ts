// Single calls grouped: while submissions, or settlements, are under way to the store, those that follow gather and go
// together when the answer is there, or when they are many. A call that finds nothing under way does not wait. Whatever
// else is asked is sent after them, so that calls take effect in the order in which they were made.

import { BATCH_MAX, type RepriseError } from '@reprise/core'

interface Call<Item, Answer> {
  readonly items: readonly Item[]
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

/** Runs several calls in one go; each has answers of its own, or is refused by itself. */
export type SendCalls<Item, Answer> = (
  calls: readonly (readonly Item[])[],
) => Promise<readonly (readonly Answer[] | RepriseError)[]>

/** This number of items is worth a trip of its own. */
const FULL = 200

/** Calls of one verb. */
export class Grouping<Item, Answer> {
  readonly #send: SendCalls<Item, Answer>
  readonly #before: () => void
  #calls: Call<Item, Answer>[] = []
  #size = 0
  #underWay = 0

  /** `before` sends what other groupings hold, so that order is kept. */
  constructor(send: SendCalls<Item, Answer>, before: () => void) {
    this.#send = send
    this.#before = before
  }

  add(items: readonly Item[]): Promise<readonly Answer[]> {
    this.#before()
    if (this.#size + items.length > BATCH_MAX) this.flush()
    return new Promise((resolve, reject) => {
      this.#calls.push({ items, resolve, reject })
      this.#size += items.length
      if (this.#size >= FULL) this.flush()
      // Those that are made in one go, without waiting in between, go together from the start.
      else if (this.#underWay === 0 && this.#calls.length === 1) queueMicrotask(() => this.flush())
    })
  }

  flush(): void {
    const calls = this.#calls
    if (calls.length === 0) return
    this.#calls = []
    this.#size = 0
    this.#underWay++
    this.#send(calls.map(({ items }) => items))
      .then(
        (answers) => {
          for (const [index, { resolve, reject }] of calls.entries()) {
            const answer = answers[index]
            if (Array.isArray(answer)) resolve(answer)
            else reject(answer)
          }
        },
        (error: unknown) => {
          for (const { reject } of calls) reject(error)
        },
      )
      .finally(() => {
        this.#underWay--
        if (this.#underWay === 0) this.flush()
      })
  }
}
