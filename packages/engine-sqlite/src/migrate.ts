// Brings a store to the schema of this version. Safe when two processes do it at once (the write lock decides, the
// second finds the work done), and refuses a store that a newer version wrote.

import { SchemaTooNewError } from '@reprise/core'
import type { Database } from './database.ts'
import { migrations } from './sql.generated.ts'

export const SCHEMA_VERSION: number = migrations.length

/** Throws SQLite's busy error if another process holds the lock for long; the caller tries again. */
export function migrate(db: Database): void {
  if (checkedVersion(db) === SCHEMA_VERSION) return
  db.exec('BEGIN IMMEDIATE')
  try {
    // Read again under the lock: somebody else may have been faster.
    const current = checkedVersion(db)
    for (const migration of migrations) {
      if (migration.version <= current) continue
      db.exec(migration.sql)
    }
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function checkedVersion(db: Database): number {
  const version = Number(db.pragma('PRAGMA user_version')?.user_version ?? 0)
  if (version > SCHEMA_VERSION) throw new SchemaTooNewError(version, SCHEMA_VERSION)
  return version
}
