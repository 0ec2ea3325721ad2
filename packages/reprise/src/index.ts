/**
 * Everything to start with in one package: the client, the worker, the embedded engine on SQLite, and the command
 * `reprise`. Each part is also a package of its own, for those who want less.
 */

export * from '@reprise/client'
export { openSqliteEngine, type SqliteEngine, type SqliteEngineOptions } from '@reprise/engine-sqlite'
export * from '@reprise/worker'
