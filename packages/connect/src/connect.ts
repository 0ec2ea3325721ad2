// Gives callers an engine from an address, or takes the one they have. Within a process, all connections to one store
// share one engine: it is opened for the first and closed by the last. 'sqlite::memory:' therefore names one store per
// process, which lives while somebody is connected to it.

import { type Clock, type Engine, type HealthThresholds, InvalidError } from '@reprise/core'
import { addressKey, parseAddress } from './address.ts'
import { type EngineModules, installedModules, openAddress } from './open.ts'

export interface ConnectOptions {
  /** The store's clock, for tests. A connection with a clock of its own is never shared. */
  readonly clock?: Clock
  /** From when on a worker is stale, degraded or unhealthy; as REPRISE_HEALTH_THRESHOLDS says if not given. */
  readonly healthThresholds?: HealthThresholds
  /** `false` refuses a store that is not there, with `REPRISE_STORE_MISSING`; true if not given. */
  readonly create?: boolean
}

export interface Connection {
  readonly engine: Engine
  /** False when the caller brought the engine, and must close it as well. */
  readonly owned: boolean
  /** Lets go of the engine; the last connection closes it. Does nothing to an engine that is not owned. */
  close(): Promise<void>
}

interface Shared {
  readonly creates: boolean
  readonly opening: Promise<Engine>
  users: number
}

const shared = new Map<string, Shared>()

export async function connectEngine(engine: string | Engine, options: ConnectOptions = {}): Promise<Connection> {
  return connectWith(installedModules, engine, options)
}

export async function connectWith(
  modules: EngineModules,
  engine: string | Engine,
  options: ConnectOptions,
): Promise<Connection> {
  if (typeof engine === 'object' && engine !== null) return { engine, owned: false, close: async () => {} }
  if (typeof engine !== 'string') throw new InvalidError(`The engine is an address or an Engine, not ${typeof engine}.`)
  const address = parseAddress(engine)
  if (options.clock !== undefined) {
    const own = await openAddress(address, options, modules)
    return { engine: own, owned: true, close: onlyOnce(() => own.close()) }
  }
  const { healthThresholds = null } = options
  const key = `${addressKey(address)} ${JSON.stringify(healthThresholds)}`
  const creates = options.create !== false
  const entry = shared.get(key) ?? { opening: openAddress(address, options, modules), creates, users: 0 }
  shared.set(key, entry)
  entry.users++
  try {
    const opened = await entry.opening
    return { engine: opened, owned: true, close: onlyOnce(() => release(key, entry)) }
  } catch (error) {
    forget(key, entry)
    // Opened for another caller, who wanted no new store.
    if (creates && !entry.creates) return connectWith(modules, engine, options)
    throw error
  }
}

async function release(key: string, entry: Shared): Promise<void> {
  entry.users--
  if (entry.users > 0) return
  // Forgotten first: a caller that connects while it closes opens the store anew.
  forget(key, entry)
  const engine = await entry.opening
  await engine.close()
}

function forget(key: string, entry: Shared): void {
  if (shared.get(key) === entry) shared.delete(key)
}

function onlyOnce(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | null = null
  return () => {
    closing ??= close()
    return closing
  }
}
