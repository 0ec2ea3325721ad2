// Makes a client from options: straight on an engine, or over HTTP. Defaults are filled in here, once.

import { connectEngine, defaultsFromEnvironment, maxRetriesFromEnvironment, warnOfRisk } from '@reprise/connect'
import {
  checkedName,
  DEFAULT_TENANT,
  type Engine,
  type HealthThresholds,
  InvalidError,
  present,
  refuseUnknownKeys,
  resolveDefaults,
  type SettingDefaultOptions,
  systemClock,
} from '@reprise/core'
import { type Client, type CommonOptions, clientOn, tenantOf } from './client.ts'
import { engineBackend } from './engine/engine-backend.ts'
import { createHttpClient, type HttpClientOptions } from './http/create-http-client.ts'
import { tracedSubmit } from './tracing.ts'

export interface EngineClientOptions extends CommonOptions {
  /** An address such as 'sqlite:./reprise.db', or an engine that is open already and stays the caller's to close. */
  readonly engine: string | Engine
  readonly url?: never
  /** `false` refuses a store that is not there, with `REPRISE_STORE_MISSING`. By default the client creates it. */
  readonly create?: boolean
  /** Who operates, for the journal: `operator:ann`. Over HTTP the journal names the owner of the token. */
  readonly actor?: string
  /** What holds where an action says nothing of its own; by default as REPRISE_DEFAULT_TIMEOUT and its like say. */
  readonly defaults?: SettingDefaultOptions
  /** From when on a worker is stale, degraded or unhealthy; as REPRISE_HEALTH_THRESHOLDS says if not given. */
  readonly healthThresholds?: HealthThresholds
}

export type ClientOptions = EngineClientOptions | HttpClientOptions

const ENGINE_OPTIONS = [
  'engine',
  'create',
  'actor',
  'tenant',
  'clock',
  'defaults',
  'healthThresholds',
] as const satisfies (keyof EngineClientOptions)[]
export async function createClient(options: ClientOptions): Promise<Client> {
  return isHttp(options) ? createHttpClient(options, tracedSubmit) : engineClient(options)
}

function isHttp(options: ClientOptions): options is HttpClientOptions {
  const isObject = typeof options === 'object' && options !== null
  if (isObject && options.url !== undefined && options.engine !== undefined) {
    throw new InvalidError('Give either an engine or the url of a server, not both.')
  }
  return isObject && options.url !== undefined
}

async function engineClient(options: EngineClientOptions): Promise<Client> {
  refuseUnknownKeys(options, ENGINE_OPTIONS, 'client option')
  const tenant = tenantOf(options) ?? DEFAULT_TENANT
  const { clock, create, healthThresholds } = options
  const actor = checkedName('actor', options.actor ?? 'client')
  const maxRetries = maxRetriesFromEnvironment()
  const defaults = options.defaults === undefined ? defaultsFromEnvironment() : resolveDefaults(options.defaults)
  const connection = await connectEngine(options.engine, present({ clock, create, healthThresholds }))
  // Who only looks may be the command line, which has a check for it.
  if (connection.owned && create !== false) warnOfRisk(connection.engine)
  const backend = engineBackend(connection, { clock: clock ?? systemClock, actor, maxRetries, defaults })
  return clientOn(backend, tenant, tracedSubmit)
}
