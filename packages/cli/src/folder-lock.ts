// A lock on the data folder, for as long as a server runs on it: of two that start in the same instant, one gets it. The file
// system keeps it, as a lock on a small SQLite file, and takes it back when the process ends, however it ends.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CommandError } from './output/errors.ts'
import { makeFolder, unusableFolder } from './private-folder.ts'

const FILE = 'up.lock'
/** SQLite's codes for a lock that somebody else has. */
const BUSY = 5
const LOCKED = 6
const PRIMARY_CODE = 0xff

export interface FolderLock {
  release(): void
}

/** Throws if another process has it. */
export async function lockFolder(data: string): Promise<FolderLock> {
  await makeFolder(data)
  const path = join(data, FILE)
  let file: DatabaseSync | null = null
  try {
    file = new DatabaseSync(path, { timeout: 0 })
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (!isTaken(error)) throw unusableFolder(data, error)
    throw new CommandError(`Another server starts on this data, or runs there: it has locked ${path}.`, {
      hint: 'Use that one, stop it first, or give this one a folder of its own with --data.',
    })
  }
  return { release: () => file?.close() }
}

function isTaken(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null ? Number(Reflect.get(error, 'errcode')) : Number.NaN
  return [BUSY, LOCKED].includes(code & PRIMARY_CODE)
}
