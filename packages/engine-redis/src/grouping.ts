// Single calls grouped: submissions, or settlements, that arrive in the same turn of the event loop share one script
// call. Whatever else is asked is sent after them, so that calls take effect in the order in which they were made.

import { BATCH_MAX, type Clock, type RepriseError } from '@reprise/core'

interface Call<Item, Answer> {
  readonly items: readonly Item[]
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

/** Runs several calls in one go; each has answers of its own, or is refused by itself. */
export type SendCalls<Item, Answer> = (
  calls: readonly (readonly Item[])[],
) => Promise<readonly (readonly Answer[] | RepriseError)[]>

/** Calls of one verb that wait for the end of this turn. */
export class Grouping<Item, Answer> {
  readonly #send: SendCalls<Item, Answer>
  readonly #clock: Clock
  readonly #before: () => void
  #calls: Call<Item, Answer>[] = []
  #size = 0

  /** `before` sends what other groupings hold, so that order is kept. */
  constructor(clock: Clock, send: SendCalls<Item, Answer>, before: () => void) {
    this.#clock = clock
    this.#send = send
    this.#before = before
  }

  add(items: readonly Item[]): Promise<readonly Answer[]> {
    this.#before()
    if (this.#size + items.length > BATCH_MAX) this.flush()
    if (this.#size === 0) this.#clock.soon(() => this.flush())
    return new Promise((resolve, reject) => {
      this.#calls.push({ items, resolve, reject })
      this.#size += items.length
    })
  }

  flush(): void {
    const calls = this.#calls
    if (calls.length === 0) return
    this.#calls = []
    this.#size = 0
    this.#send(calls.map(({ items }) => items)).then(
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
  }
}
