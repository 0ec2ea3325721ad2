// The embedded engine of Reprise: one SQLite file, no server, several processes.

export type { Durability } from './database.ts'
export { openSqliteEngine, type SqliteEngine, type SqliteEngineOptions } from './engine.ts'
export { SCHEMA_VERSION } from './migrate.ts'
