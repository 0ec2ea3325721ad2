// What was seen of the store, held against what is there: its numbers only go up, unless the file was exchanged for an older one.
// While a process has the file open nobody else may exchange it (see database.ts), so mostly that happens between two runs, when
// no process remembers anything. So the position is noted in a small file beside the store, '<store>-seen', every few seconds
// and at the end. A copy of the store alone that is put back does not bring the note along, and is noticed. A copy of the whole
// folder is not: then the note is as old as the store.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Clock, Setback } from '@reprise/core'
import type { Database } from './database.ts'

interface Sight {
  readonly identity: string
  readonly position: number
  readonly at: number
}

export class Witness {
  readonly #db: Database
  readonly #clock: Clock
  /** Null in memory. */
  readonly #path: string | null
  readonly #setbacks: Setback[] = []
  #seen: Sight
  /** What the note says. */
  #noted: Sight | null
  #isTold = false

  constructor(db: Database, path: string | null, clock: Clock) {
    this.#db = db
    this.#clock = clock
    this.#path = path === null ? null : `${path}-seen`
    this.#noted = this.#path === null ? null : readNote(this.#path)
    this.#seen = this.#look()
    // Another store under the same name has another past.
    if (this.#noted?.identity === this.#seen.identity) this.#compare(this.#noted, this.#seen)
  }

  /** Everything that was noticed so far. */
  look(): readonly Setback[] {
    const sight = this.#look()
    this.#compare(this.#seen, sight)
    this.#seen = sight
    // What was told at an earlier look is kept in the store by now: the note may follow.
    this.#note(this.#isTold)
    this.#isTold = true
    return [...this.#setbacks]
  }

  close(): void {
    try {
      this.#seen = this.#look()
    } catch {
      // A file that can't be read any more. What was seen of it before stands.
    }
    this.#note(false)
  }

  #look(): Sight {
    const row = this.#db.get<{ identity: string; position: number }>('position')
    if (row === undefined) throw new Error('The store has lost its row of numbers.')
    return { ...row, at: this.#clock.now() }
  }

  #compare(before: Sight, now: Sight): void {
    if (now.position >= before.position) return
    const { position: seen, at: seenAt } = before
    this.#setbacks.push({ part: 0, seen, seenAt, found: now.position, foundAt: now.at })
  }

  /** A note above the store stays until the setback is told, also if this process ends before. */
  #note(mayGoBack: boolean): void {
    const { identity, position } = this.#seen
    if (this.#path === null) return
    const noted = this.#noted?.identity === identity ? this.#noted.position : -1
    if (position === noted || (position < noted && !mayGoBack)) return
    try {
      const draft = `${this.#path}.${process.pid}`
      writeFileSync(draft, JSON.stringify(this.#seen), { mode: 0o600 })
      renameSync(draft, this.#path)
      this.#noted = this.#seen
    } catch {
      // No room, or no right to write beside the store: then nothing is known between two runs.
    }
  }
}

function readNote(path: string): Sight | null {
  try {
    const { identity, position, at } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Sight>
    const isNote = typeof identity === 'string' && Number.isSafeInteger(position) && Number.isSafeInteger(at)
    return isNote ? ({ identity, position, at } as Sight) : null
  } catch {
    return null
  }
}
