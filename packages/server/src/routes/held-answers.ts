// Answers that wait to be read. Some senders write everything before they read anything: up to a bound, answers are kept for
// them, so that taking in their lines does not wait for it. Beyond the bound it does.

import type { SubmitResult, TaskDifference } from '@reprise/core'

export interface LineAnswer {
  readonly line: number
  readonly outcome: SubmitResult['outcome'] | 'refused'
  readonly differs?: readonly TaskDifference[]
  readonly id?: string
  readonly code?: string
  readonly detail?: string
}

/** In characters, about: more than a hundred thousand answers of the usual length. */
const HELD_MAX = 16_000_000
const FRAME_LENGTH = 50

export class HeldAnswers {
  #held: (readonly LineAnswer[])[] = []
  #length = 0
  #isEnd = false
  #wakeReader: (() => void) | null = null
  #wakeWriter: (() => void) | null = null

  /** Resolves when there is room for more. */
  async hold(answers: readonly LineAnswer[]): Promise<void> {
    if (this.#isEnd || answers.length === 0) return
    this.#held.push(answers)
    for (const one of answers) this.#length += lengthOf(one)
    this.#wakeReader?.()
    while (this.#length > HELD_MAX && !this.#isEnd) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve
      })
    }
  }

  /** No more will come, or nobody reads any more. */
  end(): void {
    this.#isEnd = true
    this.#wakeReader?.()
    this.#wakeWriter?.()
  }

  async *read(): AsyncGenerator<LineAnswer, void, undefined> {
    for (;;) {
      const some = this.#held.shift()
      if (some !== undefined) {
        for (const one of some) {
          yield one
          this.#length -= lengthOf(one)
        }
        this.#wakeWriter?.()
      } else if (this.#isEnd) return
      else {
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve
        })
      }
    }
  }
}

const lengthOf = ({ id, detail }: LineAnswer): number => FRAME_LENGTH + (id?.length ?? 0) + (detail?.length ?? 0)
