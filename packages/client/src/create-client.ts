// Makes a client from options: straight on an engine, or over HTTP. Defaults are filled in here, once.

import { connectEngine, maxRetriesFromEnvironment } from '@reprise/connect'
import { checkedName, DEFAULT_TENANT, type Engine, InvalidError, refuseUnknownKeys, systemClock } from '@reprise/core'
import { type Client, type CommonOptions, clientOn, tenantOf } from './client.ts'
import { EngineBackend } from './engine/engine-backend.ts'
import { createHttpClient, type HttpClientOptions } from './http/create-http-client.ts'
import { tracedSubmit } from './tracing.ts'

export interface EngineClientOptions extends CommonOptions {
  /** An address such as 'sqlite:./reprise.db', or an engine that is open already and stays the caller's to close. */
  readonly engine: string | Engine
  readonly url?: never
  /** Who operates, for the journal: `operator:ann`. Over HTTP the journal names the owner of the token. */
  readonly actor?: string
}

export type ClientOptions = EngineClientOptions | HttpClientOptions

const ENGINE_OPTIONS = ['engine', 'actor', 'tenant', 'clock'] as const satisfies (keyof EngineClientOptions)[]
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
  const clock = options.clock === undefined ? {} : { clock: options.clock }
  const actor = checkedName('actor', options.actor ?? 'client')
  const maxRetries = maxRetriesFromEnvironment()
  const connection = await connectEngine(options.engine, clock)
  const backend = new EngineBackend(connection, { clock: options.clock ?? systemClock, actor, maxRetries })
  return clientOn(backend, tenant, tracedSubmit)
}
