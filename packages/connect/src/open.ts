// Opens the engine an address names, by loading its package at that moment. Nobody who does not use an engine has to
// install it: a missing package becomes an error that says what to install.

import { type Clock, type Engine, UnknownEngineError } from '@reprise/core'
import type { EngineAddress } from './address.ts'

type SqliteModule = typeof import('@reprise/engine-sqlite')
type RedisModule = typeof import('@reprise/engine-redis')

/** How engine packages are loaded; a test gives its own. */
export interface EngineModules {
  readonly sqlite: () => Promise<SqliteModule>
  readonly redis: () => Promise<RedisModule>
}

export const installedModules: EngineModules = {
  sqlite: () => import('@reprise/engine-sqlite'),
  redis: () => import('@reprise/engine-redis'),
}

export async function openAddress(
  address: EngineAddress,
  clock: Clock | undefined,
  modules: EngineModules = installedModules,
): Promise<Engine> {
  const given = clock === undefined ? {} : { clock }
  if (address.scheme === 'sqlite') {
    const { openSqliteEngine } = await loaded('@reprise/engine-sqlite', modules.sqlite)
    return openSqliteEngine({ path: address.path, durability: address.durability, ...given })
  }
  const { openRedisEngine } = await loaded('@reprise/engine-redis', modules.redis)
  const { urls, partitions, durability } = address
  // The name that operators know from the layout of records (A14).
  const prefix = address.prefix ?? process.env.EXECUTIONS_REDIS_KEY_PREFIX
  return openRedisEngine({
    url: urls,
    ...(prefix === undefined || prefix === '' ? {} : { prefix }),
    ...(partitions === null ? {} : { partitions }),
    ...(durability === null ? {} : { durability }),
    ...given,
  })
}

async function loaded<M>(name: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw new UnknownEngineError(
      `The engine package ${name} is not installed. Install it where this process runs: npm install ${name}`,
      { cause: error },
    )
  }
}

/** Only the package itself: a broken dependency inside it is another problem, and must not be hidden. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') return false
  return error.message.includes(`'${name}'`)
}
