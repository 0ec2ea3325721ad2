// Texts that repeat from row to row (settings, worker ids) are kept once, in rows that never change, and named by number.
// Remembered here both ways.

import type { TaskSettings } from '@reprise/core'
import { parseSettings } from '@reprise/core/engine'
import type { Database, StatementName } from './database.ts'

/** Beyond this many the memory starts anew; the rows stay. */
const REMEMBERED_MAX = 10_000

interface Statements {
  readonly find: StatementName
  readonly insert: StatementName
  readonly load: StatementName
}

export class InternedTexts {
  readonly #db: Database
  readonly #statements: Statements
  readonly #idByText = new Map<string, number>()
  readonly #textById = new Map<number, string>()

  constructor(db: Database, statements: Statements) {
    this.#db = db
    this.#statements = statements
  }

  /** Inside a transaction: the number of this text, stored if it is new. Workers have a second part: their build. */
  idOf(text: string, ...more: readonly string[]): number {
    const whole = more.length === 0 ? text : [text, ...more].join('\n')
    const known = this.#idByText.get(whole)
    if (known !== undefined) return known
    if (this.#idByText.size >= REMEMBERED_MAX) this.forget()
    const { find, insert } = this.#statements
    const id = this.#db.get<{ id: number }>(find, text, ...more)?.id ?? this.#db.run(insert, text, ...more).lastId
    this.#idByText.set(whole, id)
    return id
  }

  textOf(id: number): string {
    const known = this.#textById.get(id)
    if (known !== undefined) return known
    const row = this.#db.get<{ text: string }>(this.#statements.load, id)
    if (row === undefined) throw new Error(`Interned text ${id} (${this.#statements.load}) is missing.`)
    if (this.#textById.size >= REMEMBERED_MAX) this.forget()
    this.#textById.set(id, row.text)
    return row.text
  }

  /** After a rollback: numbers that were drawn in it may come again for other texts. */
  forget(): void {
    this.#idByText.clear()
    this.#textById.clear()
  }
}

/** Settings, interned as JSON. */
export class Profiles {
  readonly #texts: InternedTexts
  readonly #settingsById = new Map<number, TaskSettings>()
  readonly #textByObject = new WeakMap<TaskSettings, string>()

  constructor(db: Database) {
    this.#texts = new InternedTexts(db, { find: 'findProfile', insert: 'insertProfile', load: 'loadProfile' })
  }

  idOf(settings: TaskSettings): number {
    let text = this.#textByObject.get(settings)
    if (text === undefined) {
      text = JSON.stringify(settings)
      this.#textByObject.set(settings, text)
    }
    return this.#texts.idOf(text)
  }

  settingsOf(id: number): TaskSettings {
    let settings = this.#settingsById.get(id)
    if (settings === undefined) {
      settings = parseSettings<TaskSettings>(this.#texts.textOf(id))
      if (this.#settingsById.size >= REMEMBERED_MAX) this.forget()
      this.#settingsById.set(id, settings)
    }
    return settings
  }

  forget(): void {
    this.#texts.forget()
    this.#settingsById.clear()
  }
}
