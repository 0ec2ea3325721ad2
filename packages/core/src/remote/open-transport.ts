// Where a server is and how it is asked, as people write it in options: checked, with defaults filled in. Nothing is asked yet.

import { type Duration, durationMs } from '../model/duration.ts'
import { InvalidError } from '../model/errors.ts'
import { checkedText } from '../model/ids.ts'
import { type Clock, systemClock } from '../runtime/clock.ts'
import { type Random, systemRandom } from '../runtime/random.ts'
import { serverAddress } from './address.ts'
import { checkedToken, type Fetch, type TokenSource, Transport } from './transport.ts'

export interface ServerOptions {
  /** Where the server is: 'https://reprise.example.com'. */
  readonly url: string
  /** An API token, or an ID token of an issuer that the server trusts; a function if it has to be renewed. */
  readonly token?: TokenSource
  /** Sent with every request, for what stands in front of the server. */
  readonly headers?: Readonly<Record<string, string>>
  /** For one call with all its repeats; 30 s if not given. */
  readonly timeout?: Duration
  /** In place of the global fetch: for proxies and tests. */
  readonly fetch?: Fetch
  readonly clock?: Clock
  /** For tests: the jitter between repeats. */
  readonly random?: Random
}

const TIMEOUT_MS = 30_000
const HEADER_LENGTH_MAX = 10_000

export function openTransport(options: ServerOptions): Transport {
  const { token } = options
  const timeoutMs = options.timeout === undefined ? TIMEOUT_MS : durationMs(options.timeout, 'timeout')
  if (timeoutMs < 1) throw new InvalidError('The timeout must be at least 1 ms.')
  return new Transport({
    address: serverAddress(options.url),
    token: token === undefined ? null : typeof token === 'function' ? token : checkedToken(token),
    headers: headersOf(options.headers ?? {}),
    timeoutMs,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
  })
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
