// Where a run's stores come from: SQLite files in a folder that is removed at the end, or a Redis server that is started
// for the run, emptied before each measurement and stopped at the end. Both lie beside the sources, not in the temporary
// folder: that one may be in memory, where `durable` costs nothing.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startCluster, startRedis } from '@reprise/test-servers'
import type { EngineName, Mode } from './arguments.ts'
import { clearStore, type Store } from './store.ts'

/** There is nothing to measure on; the message says what is missing. */
export class StoreMissingError extends Error {}

export interface Stores extends AsyncDisposable {
  /** Gives work an empty one, for as long as it takes. One at a time: on Redis it is always the same. */
  withStore(mode: Mode, work: (store: Store) => Promise<void>): Promise<void>
}

const DATA_FOLDER = join(import.meta.dirname, '..', '.data')

/** A Redis server has one mode for the whole run. */
export async function openStores(engine: EngineName, mode: Mode): Promise<Stores> {
  mkdirSync(DATA_FOLDER, { recursive: true })
  const folder = mkdtempSync(join(DATA_FOLDER, 'run-'))
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    return engine === 'sqlite' ? sqliteStores(folder, removeFolder) : await redisStores(folder, mode, removeFolder)
  } catch (error) {
    removeFolder()
    throw error
  }
}

function sqliteStores(folder: string, removeFolder: () => void): Stores {
  return {
    async withStore(mode, work) {
      const store: Store = { engine: 'sqlite', at: join(folder, 'store', 'store.db'), mode }
      await clearStore(store)
      await work(store)
    },
    async [Symbol.asyncDispose]() {
      removeFolder()
    },
  }
}

async function redisStores(folder: string, mode: Mode, removeFolder: () => void): Promise<Stores> {
  const server = await startRedis({
    folder,
    appendonly: true,
    appendfsync: mode === 'durable' ? 'always' : 'everysec',
    // Rewriting the append-only file takes a core for seconds. It is done between measurements, when it is empty.
    extra: ['--auto-aof-rewrite-percentage', '0'],
  }).catch((error: unknown) => {
    throw new StoreMissingError(error instanceof Error ? error.message : String(error), { cause: error })
  })
  const store: Store = { engine: 'redis', at: server.url, mode }
  return {
    async withStore(_mode, work) {
      await clearStore(store)
      await work(store)
    },
    async [Symbol.asyncDispose]() {
      await server.stop()
      removeFolder()
    },
  }
}

const CLUSTER_PARTITIONS = 6

/** Gives work an empty store that is spread over three servers of a cluster, each with two partitions, for as long as it takes. */
export async function withClusterStore<T>(mode: Mode, work: (store: Store) => Promise<T>): Promise<T> {
  const cluster = await startCluster()
  try {
    const [first = '', ...others] = cluster.urls
    const nodes = [first, ...others.map((url) => new URL(url).host)].join(',')
    return await work({ engine: 'redis', at: `${nodes}?partitions=${CLUSTER_PARTITIONS}`, mode })
  } finally {
    await cluster.stop()
  }
}
