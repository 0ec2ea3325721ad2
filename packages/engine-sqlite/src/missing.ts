// A store that must be there already: a caller who only looks wants no new file at a mistyped path. The refusal names the
// store in the same folder whose name is nearest.

import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { nearest } from '@reprise/core'
import { StoreMissingError } from '@reprise/core/engine'
import type { Database } from './database.ts'

/** Every SQLite file begins so. */
const HEADER = 'SQLite format 3\0'
const FILES_LOOKED_AT = 200

export function refuseMissingFile(path: string): void {
  // An empty file is what a store looks like before anything is in it.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) throw missing(path)
}

/** A database without a schema of ours. */
export function refuseEmpty(db: Database, path: string): void {
  if (Number(db.pragma('PRAGMA user_version')?.user_version ?? 0) === 0) throw missing(path)
}

function missing(path: string): StoreMissingError {
  return new StoreMissingError(`'${path}'`, storeBeside(path))
}

/** The only one in the folder, or else the one whose name is nearest; null if none is. */
function storeBeside(path: string): string | null {
  const folder = dirname(path)
  const own = basename(path)
  const stores = filesOf(folder).filter((name) => name !== own && isDatabase(join(folder, name)))
  const name = nearest(own, stores) ?? (stores.length === 1 ? stores[0] : null)
  return name === null || name === undefined ? null : join(folder, name)
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, FILES_LOOKED_AT)
  } catch {
    return []
  }
}

function isDatabase(path: string): boolean {
  try {
    // Not a pipe, which would be waited for.
    if (!statSync(path).isFile()) return false
    const file = openSync(path, 'r')
    try {
      const start = Buffer.alloc(HEADER.length)
      return readSync(file, start) === HEADER.length && start.toString('latin1') === HEADER
    } finally {
      closeSync(file)
    }
  } catch {
    return false
  }
}
