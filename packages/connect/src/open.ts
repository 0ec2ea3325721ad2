// Opens the engine an address names, by loading its package at that moment. Nobody who does not use an engine has to
// install it: a missing package becomes an error that says what to install. Types and bundlers don't need it either.

import { type Clock, type Engine, type HealthThresholds, present, UnknownEngineError } from '@reprise/core'
import type { Durability, EngineAddress, RedisAddress } from './address.ts'
import { healthThresholdsFromEnvironment, maxBacklogFromEnvironment } from './environment.ts'

// What is used of an engine package, in types of our own: declarations that name the package need it installed.
interface SqliteModule {
  readonly openSqliteEngine: (options: {
    readonly path: string
    readonly durability: Durability
    readonly maxBacklog?: number
    readonly healthThresholds?: HealthThresholds
    readonly create?: boolean
    readonly clock?: Clock
  }) => Promise<Engine>
}
interface RedisModule {
  readonly openRedisEngine: (options: {
    readonly url: readonly string[]
    readonly prefix?: string
    readonly partitions?: number
    readonly durability?: Durability
    readonly maxBacklog?: number
    readonly healthThresholds?: HealthThresholds
    readonly create?: boolean
    readonly clock?: Clock
  }) => Promise<Engine>
  readonly otherStores: (options: {
    readonly url: readonly string[]
    readonly prefix?: string
  }) => Promise<readonly string[]>
}

/** How engine packages are loaded; a test gives its own. */
export interface EngineModules {
  readonly sqlite: () => Promise<SqliteModule>
  readonly redis: () => Promise<RedisModule>
}

/** A bundler takes a failure that is handled here for one that may happen: it leaves out what is not installed. */
const passOn = (error: unknown): never => {
  throw error
}

export const installedModules: EngineModules = {
  sqlite: () => import('@reprise/engine-sqlite').catch(passOn),
  redis: () => import('@reprise/engine-redis').catch(passOn),
}

export interface OpenOptions {
  readonly clock?: Clock
  /** `false` refuses a store that is not there; true if not given. */
  readonly create?: boolean
  readonly healthThresholds?: HealthThresholds
}

/** The name that operators know from the layout of records (A14); null for the usual one. */
export const prefixOf = ({ prefix }: Pick<RedisAddress, 'prefix'>): string | null =>
  (prefix ?? process.env.EXECUTIONS_REDIS_KEY_PREFIX) || null

export async function openAddress(
  address: EngineAddress,
  { clock, create, healthThresholds: given }: OpenOptions,
  modules: EngineModules = installedModules,
): Promise<Engine> {
  const healthThresholds = given ?? healthThresholdsFromEnvironment()
  const maxBacklog = address.maxBacklog ?? maxBacklogFromEnvironment()
  if (address.scheme === 'sqlite') {
    const { openSqliteEngine } = await loaded('@reprise/engine-sqlite', modules.sqlite)
    return openSqliteEngine({
      path: address.path,
      durability: address.durability,
      ...present({ maxBacklog, healthThresholds, clock, create }),
    })
  }
  const { openRedisEngine } = await loaded('@reprise/engine-redis', modules.redis)
  const { urls, partitions, durability } = address
  const prefix = prefixOf(address)
  return openRedisEngine({
    url: urls,
    ...present({ prefix, partitions, durability, maxBacklog, healthThresholds, clock, create }),
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
  if (!(error instanceof Error) || !('code' in error)) return false
  // The second one in a bundle of CommonJS.
  if (error.code !== 'ERR_MODULE_NOT_FOUND' && error.code !== 'MODULE_NOT_FOUND') return false
  return error.message.includes(`'${name}'`)
}
