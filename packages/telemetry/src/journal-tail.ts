// The newest part of the journal, followed by a cursor: what failed, and what was sent back to work. It begins where the window
// of the first look does; a tail that is kept goes on where it was. A look at a longer window begins anew, and so does one that
// can't catch up. Bounded in what one look reads and in what is kept, and it says when a window holds more than that.

import {
  CLOCK_STEP_BACK_MS,
  isFailureReason,
  type JournalEntry,
  PAGE_LIMIT_MAX,
  type Records,
  type TaskId,
} from '@reprise/core'

/** An entry that says something about retries. */
export interface RetryEntry {
  readonly at: number
  readonly taskId: TaskId
  /** The attempt that ended; null where an operator acted. */
  readonly attempt: number | null
  /** Whether another attempt follows. */
  readonly isRetry: boolean
  readonly reason: string
}

export interface TailView {
  /** Of the window, oldest first. */
  readonly entries: readonly RetryEntry[]
  /** False if part of the window was not read: there is more than one look reads, or than is kept. */
  readonly isComplete: boolean
}

export interface JournalTailOptions {
  /** How many entries one look reads at the most. */
  readonly maxRead?: number
  /** How many entries about retries are kept. */
  readonly maxKept?: number
}

const READ_MAX = 20_000
const KEPT_MAX = 20_000

export class JournalTail {
  readonly #engine: Records
  readonly #maxPages: number
  readonly #maxKept: number
  #cursor = ''
  /** Everything since then was read, or lies behind the cursor. */
  #begunAt = Number.POSITIVE_INFINITY
  /** Of the last entry that was read, whatever it told of. */
  #readUntil = Number.NEGATIVE_INFINITY
  #kept: RetryEntry[] = []
  /** Up to when entries were let go for want of room. */
  #lostUntil = Number.NEGATIVE_INFINITY
  #turn: Promise<unknown> = Promise.resolve()

  constructor(engine: Records, { maxRead = READ_MAX, maxKept = KEPT_MAX }: JournalTailOptions = {}) {
    this.#engine = engine
    this.#maxPages = Math.max(Math.ceil(maxRead / PAGE_LIMIT_MAX), 1)
    this.#maxKept = maxKept
  }

  /** Reads on, and gives what is younger than `from`. Looks at the same time go one after the other. */
  look(from: number): Promise<TailView> {
    const turn = this.#turn.then(() => this.#look(from))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #look(from: number): Promise<TailView> {
    if (from < this.#begunAt) await this.#beginAt(from)
    let isAtEnd = await this.#readOn()
    // Far behind: nothing of what was read is of this window, and there is a place further on to begin at.
    if (!isAtEnd && this.#readUntil < from - CLOCK_STEP_BACK_MS) {
      await this.#beginAt(from)
      isAtEnd = await this.#readOn()
    }
    return { entries: this.#kept.filter(({ at }) => at >= from), isComplete: isAtEnd && this.#lostUntil < from }
  }

  async #beginAt(from: number): Promise<void> {
    this.#cursor = await this.#engine.journal.from(from)
    this.#begunAt = from
    this.#kept = []
    this.#lostUntil = Number.NEGATIVE_INFINITY
  }

  async #readOn(): Promise<boolean> {
    for (let page = 0; page < this.#maxPages; page++) {
      const { entries, cursor } = await this.#engine.journal.read({ limit: PAGE_LIMIT_MAX, cursor: this.#cursor })
      this.#cursor = cursor
      for (const entry of entries) {
        this.#readUntil = entry.at
        const found = retryEntryOf(entry)
        if (found !== null) this.#kept.push(found)
      }
      this.#makeRoom()
      if (entries.length === 0) return true
    }
    return false
  }

  #makeRoom(): void {
    const excess = this.#kept.length - this.#maxKept
    if (excess <= 0) return
    this.#lostUntil = this.#kept[excess - 1]?.at ?? this.#lostUntil
    this.#kept = this.#kept.slice(excess)
  }
}

function retryEntryOf({ type, at, taskId, attempt, data }: JournalEntry): RetryEntry | null {
  if (taskId === null) return null
  switch (type) {
    case 'execution.failed':
    case 'execution.lost':
    case 'execution.expired': {
      const reason = typeof data.reason === 'string' && isFailureReason(data.reason) ? data.reason : 'unknown'
      return { at, taskId, attempt, isRetry: data.decision === 'retry' || data.decision === 'park', reason }
    }
    case 'task.retried':
    case 'task.redriven':
      return { at, taskId, attempt: null, isRetry: true, reason: 'manual' }
    default:
      return null
  }
}
