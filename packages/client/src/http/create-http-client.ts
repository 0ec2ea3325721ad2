// Makes a client that speaks HTTP. It needs no store, no driver and no schema library: a browser can use it as well.

import {
  checkedText,
  type Duration,
  durationMs,
  InvalidError,
  type Random,
  refuseUnknownKeys,
  systemClock,
  systemRandom,
} from '@reprise/core'
import { type Around, type Client, type CommonOptions, clientOn, tenantOf } from '../client.ts'
import { serverAddress } from './address.ts'
import { HttpBackend } from './http-backend.ts'
import { checkedToken, type Fetch, type TokenSource, Transport } from './transport.ts'

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

/** Asks the server nothing yet: that it can't be reached is told by the first call. */
export function createHttpClient(
  options: HttpClientOptions,
  around: Around = (tasks, submit) => submit(tasks),
): Client {
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
  return clientOn(new HttpBackend(transport), tenantOf(options), around)
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/

function headersOf(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!HEADER_NAME.test(name)) throw new InvalidError('A name in the option headers is not the name of a header.')
      return [name.toLowerCase(), checkedText(`header '${name}'`, value, HEADER_LENGTH_MAX)]
    }),
  )
}
