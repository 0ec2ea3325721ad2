// Where the attacked servers keep their tasks: SQLite files in a folder that is removed at the end, or a Redis server that is
// started for the run, with a prefix for each store.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis } from '@reprise/test-servers'
import type { EngineName } from '../arguments.ts'

export interface Stores extends AsyncDisposable {
  /** For everything that a run writes. */
  readonly folder: string
  /** The address of a store that is empty. */
  readonly fresh: () => string
}

export async function openStores(engine: EngineName): Promise<Stores> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-attack-'))
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  let made = 0
  if (engine === 'sqlite') {
    return {
      folder,
      fresh: () => `sqlite:${join(folder, `store-${++made}.db`)}`,
      [Symbol.asyncDispose]: async () => removeFolder(),
    }
  }
  const redis = await startRedis({ folder: join(folder, 'redis'), appendonly: true }).catch((error: unknown) => {
    removeFolder()
    throw error
  })
  return {
    folder,
    fresh: () => `${redis.url}?prefix=attack${++made}`,
    [Symbol.asyncDispose]: async () => {
      await redis.stop()
      removeFolder()
    },
  }
}
