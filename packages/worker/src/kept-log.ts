// What one handler wrote to its log, as far as it is kept with the attempt: the latest lines, within the bounds of the store.

import { type AttemptLog, cut, fittingLog, LOG_LINES_MAX, type LogLine } from '@reprise/core'

/** One line never fills the log: written as JSON, a unit takes 6 bytes at the most. */
const TEXT_LENGTH_MAX = 2_000

export class KeptLog {
  readonly #lines: LogLine[] = []
  #dropped = 0
  #isNew = false

  add(at: number, level: LogLine['level'], text: string): void {
    this.#isNew = true
    this.#lines.push({ at, level, text: cut(text, TEXT_LENGTH_MAX) })
    if (this.#lines.length <= LOG_LINES_MAX) return
    this.#lines.shift()
    this.#dropped++
  }

  /** All of it, if the store does not have it yet. */
  take(): AttemptLog | null {
    if (!this.#isNew) return null
    this.#isNew = false
    return fittingLog(this.#lines, this.#dropped)
  }

  /** The store could not be told. */
  putBack(): void {
    this.#isNew = true
  }
}
