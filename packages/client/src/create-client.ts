// Makes a client from options: straight on an engine, or over HTTP. Defaults are filled in here, once.

import { connectEngine, maxRetriesFromEnvironment } from '@reprise/connect'
import {
  type Clock,
  checkedText,
  DEFAULT_TENANT,
  type Duration,
  durationMs,
  type Engine,
  type Execution,
  type Explanation,
  InvalidError,
  type Page,
  type PageRequest,
  type Random,
  refuseUnknownKeys,
  systemClock,
  systemRandom,
  type Task,
  type TenantId,
  tenantId,
} from '@reprise/core'
import { Client } from './client.ts'
import { EngineBackend } from './engine/engine-backend.ts'
import { serverAddress } from './http/address.ts'
import { HttpBackend } from './http/http-backend.ts'
import { checkedToken, type Fetch, type TokenSource, Transport } from './http/transport.ts'
import type { ListQuery } from './operator-requests.ts'

interface CommonOptions {
  /** The tenant of tasks that are submitted without one. */
  readonly tenant?: string
  /** For tests: measures timeouts, and becomes the clock of an engine that is opened here. */
  readonly clock?: Clock
}

export interface EngineClientOptions extends CommonOptions {
  /** An address such as 'sqlite:./reprise.db', or an engine that is open already and stays the caller's to close. */
  readonly engine: string | Engine
  readonly url?: never
}

export interface HttpClientOptions extends CommonOptions {
  /** Where the server is: 'https://reprise.example.com'. */
  readonly url: string
  readonly engine?: never
  /** An API token, or an ID token of an issuer that the server trusts; a function if it has to be renewed. */
  readonly token?: TokenSource
  /** Sent with every request, for what stands in front of the server. */
  readonly headers?: Readonly<Record<string, string>>
  /** For one call with all its repeats; 30 s if not given. */
  readonly timeout?: Duration
  /** In place of the global fetch: for proxies and tests. */
  readonly fetch?: Fetch
  /** For tests: the jitter between repeats. */
  readonly random?: Random
}

export type ClientOptions = EngineClientOptions | HttpClientOptions

/** Straight on an engine records are core's own, with the tokens of leases. */
interface WholeRecords {
  get(id: string): Promise<Task | null>
  list(query?: ListQuery): Promise<Page<Task>>
  executions(id: string, page?: PageRequest): Promise<Page<Execution>>
  explain(id: string): Promise<Explanation | null>
}
export type EngineClient = WholeRecords & Client

const ENGINE_OPTIONS = ['engine', 'tenant', 'clock'] as const satisfies (keyof EngineClientOptions)[]
const HTTP_OPTIONS = [
  'url',
  'token',
  'tenant',
  'headers',
  'timeout',
  'fetch',
  'clock',
  'random',
] as const satisfies (keyof HttpClientOptions)[]

const TIMEOUT_MS = 30_000
const HEADER_LENGTH_MAX = 10_000

export function createClient(options: EngineClientOptions): Promise<EngineClient>
export function createClient(options: ClientOptions): Promise<Client>
export async function createClient(options: ClientOptions): Promise<Client> {
  return isHttp(options) ? httpClient(options) : engineClient(options)
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
  const maxRetries = maxRetriesFromEnvironment()
  const connection = await connectEngine(options.engine, clock)
  return new Client(new EngineBackend(connection, options.clock ?? systemClock, maxRetries), tenant)
}

/** Asks the server nothing yet: that it can't be reached is told by the first call. */
function httpClient(options: HttpClientOptions): Client {
  refuseUnknownKeys(options, HTTP_OPTIONS, 'client option')
  const { token } = options
  const timeoutMs = options.timeout === undefined ? TIMEOUT_MS : durationMs(options.timeout, 'timeout')
  if (timeoutMs < 1) throw new InvalidError('The timeout must be at least 1 ms.')
  const transport = new Transport({
    address: serverAddress(options.url),
    token: token === undefined ? null : typeof token === 'function' ? token : checkedToken(token),
    headers: headersOf(options.headers ?? {}),
    timeoutMs,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
  })
  return new Client(new HttpBackend(transport), tenantOf(options))
}

const tenantOf = ({ tenant }: CommonOptions): TenantId | null => (tenant === undefined ? null : tenantId(tenant))

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/

function headersOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!HEADER_NAME.test(name)) throw new InvalidError('A name in the option headers is not the name of a header.')
      return [name.toLowerCase(), checkedText(`header '${name}'`, value, HEADER_LENGTH_MAX)]
    }),
  )
}
