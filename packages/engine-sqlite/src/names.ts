// What the numbers in a task's row stand for: its lane, the settings it was submitted with, and its last worker. For reads outside of a write
// transaction only: they see what is committed, and that is neither changed nor deleted, so it is remembered for good.

import type { ActionName, LastWorker, PoolName, TaskSettings, TenantId } from '@reprise/core'
import { parseSettings } from '@reprise/core/engine'
import { lastWorkerOf } from './builds.ts'
import type { Database } from './database.ts'

/** Beyond this many the memory starts anew. */
const REMEMBERED_MAX = 10_000

export interface LaneName {
  readonly pool: PoolName
  readonly action: ActionName
  readonly tenant: TenantId
}

export class Names {
  readonly #db: Database
  readonly #lanes = new Map<number, LaneName>()
  readonly #settings = new Map<number, TaskSettings>()
  readonly #workers = new Map<number, LastWorker>()

  constructor(db: Database) {
    this.#db = db
  }

  lane(number: number): LaneName {
    let lane = this.#lanes.get(number)
    if (lane === undefined) {
      lane = this.#db.get<LaneName>('laneName', number)
      if (lane === undefined) throw new Error(`The store has no lane number ${number}.`)
      keep(this.#lanes, number, lane)
    }
    return lane
  }

  /** Frozen, as many tasks share them. */
  settings(number: number): TaskSettings {
    let settings = this.#settings.get(number)
    if (settings === undefined) {
      const row = this.#db.get<{ text: string }>('loadProfile', number)
      if (row === undefined) throw new Error(`The store has no settings number ${number}.`)
      settings = parseSettings<TaskSettings>(row.text, frozen)
      keep(this.#settings, number, settings)
    }
    return settings
  }

  lastWorker(number: number | null): LastWorker | null {
    if (number === null) return null
    let worker = this.#workers.get(number)
    if (worker === undefined) {
      const row = this.#db.get<{ name: string; build: string }>('workerBuild', number)
      if (row === undefined) throw new Error(`The store has no worker number ${number}.`)
      worker = Object.freeze(lastWorkerOf(row))
      keep(this.#workers, number, worker)
    }
    return worker
  }
}

const frozen = (_name: string, value: unknown): unknown => Object.freeze(value)

function keep<T>(known: Map<number, T>, number: number, value: T): void {
  if (known.size >= REMEMBERED_MAX) known.clear()
  known.set(number, value)
}

const namesByDatabase = new WeakMap<Database, Names>()

export function namesOf(db: Database): Names {
  let names = namesByDatabase.get(db)
  if (names === undefined) {
    names = new Names(db)
    namesByDatabase.set(db, names)
  }
  return names
}
