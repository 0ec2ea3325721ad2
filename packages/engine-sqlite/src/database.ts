// The thin driver over node:sqlite: opens a file with the pragmas we rely on, prepares the compiled statements once,
// and turns SQLite's numbers into our errors. Nothing outside this file sees node:sqlite.

import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { InvalidError, isRepriseError, StoreBusyError, StoreFailedError, StoreFullError } from '@reprise/core'
import { statements } from './sql.generated.ts'

export type Durability = 'durable' | 'fast'
export type StatementName = keyof typeof statements
export type Value = SQLInputValue

/** A row that is read as an array: by the place of each column, what the field of that name is. */
export type RowOf<Columns extends Readonly<Record<string, number>>, Fields extends Record<keyof Columns, unknown>> = {
  readonly [Name in keyof Columns as Columns[Name]]: Fields[Name]
}

// How long SQLite itself waits for another process's transaction, blocking this thread. Kept short: the group commit
// waits longer, without blocking.
const BUSY_TIMEOUT_MS = 5
const CACHE_KIB = 65_536
/** Older ones take a look at the log for an order to copy it. */
const canLookAtLog = isAtLeast(process.versions.sqlite, 3, 51)
// In pages of 4 KiB: bounds the log file while nothing reads for long. See checkpoints.ts.
const BACKSTOP_PAGES = canLookAtLog ? 16_000 : 4_000
const WAL_LIMIT_BYTES = 67_108_864
/** Copied per step; between two steps other work of the process gets its turn. */
const BACKUP_PAGES = 1_000

export class Database {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<StatementName, StatementSync>()
  readonly #preparedArrays = new Map<StatementName, StatementSync>()
  readonly #path: string
  /** The files of the store by path, with their ids; none in memory. */
  readonly #fileIds: ReadonlyMap<string, string>
  #dataVersion = 0
  #lookAtLog: StatementSync | null = null

  constructor(path: string, durability: Durability, readOnly = false) {
    if (path === '') throw new InvalidError("The path of the store is empty. Name a file, or ':memory:'.")
    this.#path = path
    let db: DatabaseSync | null = null
    try {
      if (!readOnly) createForOwner(path)
      db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readOnly })
      db.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${durability === 'durable' ? 'FULL' : 'NORMAL'};
         PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF;
         PRAGMA wal_autocheckpoint = ${BACKSTOP_PAGES}; PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES};`,
      )
      this.#db = db
      this.#fileIds = path === ':memory:' ? new Map() : fileIdsOf(db, path)
    } catch (error) {
      db?.close()
      throw storeError(error, path)
    }
  }

  exec(sql: string): void {
    this.#db.exec(sql)
  }

  /** One row of a statement that is not among the compiled ones: pragmas and the schema version. */
  pragma(sql: string): Record<string, unknown> | undefined {
    return this.#db.prepare(sql).get()
  }

  /** The statement's rows. The caller knows their shape: the column list stands in the .sql file. */
  all<Row>(name: StatementName, ...values: Value[]): Row[] {
    return this.#statement(name).all(...values) as Row[]
  }

  /** Rows as arrays in column order: for the statements of the hot paths, as objects cost a quarter more. See `RowOf`. */
  arrays<Row extends object>(name: StatementName, ...values: Value[]): Row[] {
    let statement = this.#preparedArrays.get(name)
    if (statement === undefined) {
      statement = this.#db.prepare(statements[name])
      statement.setReturnArrays(true)
      this.#preparedArrays.set(name, statement)
    }
    return statement.all(...values) as unknown as Row[]
  }

  get<Row>(name: StatementName, ...values: Value[]): Row | undefined {
    return this.#statement(name).get(...values) as Row | undefined
  }

  run(name: StatementName, ...values: Value[]): { readonly changes: number; readonly lastId: number } {
    const { changes, lastInsertRowid } = this.#statement(name).run(...values)
    return { changes: Number(changes), lastId: Number(lastInsertRowid) }
  }

  /** Everything that is read inside belongs to one moment, whatever other processes write meanwhile. */
  snapshot<T>(look: () => T): T {
    this.run('beginLook')
    try {
      return look()
    } finally {
      this.run('endLook')
    }
  }

  /** Whether another connection has written since this was last asked. */
  changedElsewhere(): boolean {
    try {
      const version = Number(this.pragma('PRAGMA data_version')?.data_version)
      const changed = version !== this.#dataVersion
      this.#dataVersion = version
      return changed
    } catch {
      // The next look will find out why.
      return true
    }
  }

  /** How many pages of the log are not in the file yet, as far as can be told. */
  logPages(): number {
    if (!canLookAtLog) return 0
    this.#lookAtLog ??= this.#db.prepare('PRAGMA wal_checkpoint(NOOP)')
    const { log, checkpointed } = this.#lookAtLog.get() as { readonly log: number; readonly checkpointed: number }
    return log - checkpointed
  }

  /** A file of the store that was deleted or replaced since: what is written there would be acknowledged and lost. Null if none was. */
  fileOutOfPlace(): string | null {
    for (const [path, id] of this.#fileIds) if (fileIdOf(path) !== id) return path
    return null
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction
  }

  /** From a connection of its own that holds one snapshot: what others write meanwhile does not make it start again. */
  async backupTo(path: string): Promise<void> {
    if (existsSync(path)) throw new InvalidError(`There is a file '${path}' already. Name a new one for the backup.`)
    const source = new DatabaseSync(this.#path, { readOnly: true })
    try {
      createForOwner(path)
      source.exec('BEGIN; SELECT count(*) FROM store')
      await backup(source, path, { rate: BACKUP_PAGES })
    } catch (error) {
      throw storeError(error, path)
    } finally {
      source.close()
    }
  }

  /** A second connection to the same file, that only reads; null in memory, where there is none. The caller closes it. */
  openAside(): Database | null {
    return this.#fileIds.size === 0 ? null : new Database(this.#path, 'fast', true)
  }

  close(): void {
    if (this.#db.isOpen) this.#db.close()
  }

  #statement(name: StatementName): StatementSync {
    let statement = this.#prepared.get(name)
    if (statement === undefined) {
      statement = this.#db.prepare(statements[name])
      this.#prepared.set(name, statement)
    }
    return statement
  }
}

function isAtLeast(version: string | undefined, major: number, minor: number): boolean {
  const [ofMajor = 0, ofMinor = 0] = (version ?? '').split('.').map(Number)
  return ofMajor > major || (ofMajor === major && ofMinor >= minor)
}

/** Payloads may be secret: nobody else on the host may read them. SQLite gives its other files the mode of this one. */
function createForOwner(path: string): void {
  if (path === ':memory:' || path.startsWith('file:')) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It is there already, and keeps its mode; or it can't be made, which SQLite tells better.
  }
}

/** The log and its index last as long as somebody has the store open. */
function fileIdsOf(db: DatabaseSync, path: string): ReadonlyMap<string, string> {
  // The first look opens them.
  db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  const ids = new Map<string, string>()
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const id = fileIdOf(file)
    if (id !== null) ids.set(file, id)
  }
  return ids
}

function fileIdOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`
}

const BUSY = 5
const LOCKED = 6
const IO_ERROR = 10
const FULL = 13

/** SQLite's primary result code; null if the error is not SQLite's. */
function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  return error.errcode & 0xff
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error)
  return code === BUSY || code === LOCKED
}

/** After a failed write to the disk nobody knows what it holds: nothing may be acknowledged any more. */
export function isDiskFailure(error: unknown): boolean {
  return resultCode(error) === IO_ERROR
}

/** The store as a whole can't write now: full, locked or broken, rather than one statement being wrong. */
export function concernsAll(error: unknown): boolean {
  return isBusy(error) || isDiskFailure(error) || resultCode(error) === FULL
}

export function storeError(error: unknown, path?: string): Error {
  if (isRepriseError(error)) return error
  const code = resultCode(error)
  if (code === BUSY || code === LOCKED)
    return new StoreBusyError('Another process keeps the store locked. Nothing was changed; try again.', {
      cause: error,
    })
  if (code === FULL) return new StoreFullError({ cause: error })
  const detail = error instanceof Error ? error.message : String(error)
  const where = path === undefined ? '' : ` '${path}'`
  return new StoreFailedError(`The SQLite store${where} failed: ${detail}. Nothing of this call was changed.`, {
    cause: error,
  })
}
