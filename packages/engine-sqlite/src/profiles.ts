// Settings, interned: each distinct set of settings is one row that never changes, remembered here by id and by content.

import type { TaskSettings } from '@reprise/core'
import type { Database } from './database.ts'

/** Beyond this many distinct settings the memory starts anew. */
const REMEMBERED_MAX = 10_000

export class Profiles {
  readonly #db: Database
  readonly #idByText = new Map<string, number>()
  readonly #settingsById = new Map<number, TaskSettings>()
  #textByObject = new WeakMap<TaskSettings, string>()

  constructor(db: Database) {
    this.#db = db
  }

  /** Inside a transaction: the id of these settings, stored if they are new. */
  idOf(settings: TaskSettings): number {
    let text = this.#textByObject.get(settings)
    if (text === undefined) {
      text = JSON.stringify(settings)
      this.#textByObject.set(settings, text)
    }
    const known = this.#idByText.get(text)
    if (known !== undefined) return known
    if (this.#idByText.size >= REMEMBERED_MAX) this.forget()
    const id = this.#db.get<{ id: number }>('findProfile', text)?.id ?? this.#db.run('insertProfile', text).lastId
    this.#idByText.set(text, id)
    return id
  }

  settingsOf(id: number): TaskSettings {
    const known = this.#settingsById.get(id)
    if (known !== undefined) return known
    const row = this.#db.get<{ settings: string }>('loadProfile', id)
    if (row === undefined) throw new Error(`Profile ${id} is missing.`)
    if (this.#settingsById.size >= REMEMBERED_MAX) this.forget()
    const settings = JSON.parse(row.settings) as TaskSettings
    this.#settingsById.set(id, settings)
    return settings
  }

  /** After a rollback: ids that were drawn in it may come again for other settings. */
  forget(): void {
    this.#idByText.clear()
    this.#settingsById.clear()
    this.#textByObject = new WeakMap()
  }
}
