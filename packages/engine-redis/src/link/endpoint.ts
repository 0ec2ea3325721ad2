// Where a server is and how to sign in there: the address of the engine taken apart once. Only `label` is ever shown: an
// address may hold a password, and so may the error of a parser that did not understand it.

import { UnknownEngineError } from '@reprise/core'

export interface Endpoint {
  /** Host and port, or the path of a socket: for messages, and to tell servers apart. */
  readonly label: string
  readonly socket:
    | { readonly host: string; readonly port: number; readonly tls: boolean }
    | { readonly path: string; readonly tls: false }
  readonly username: string | undefined
  readonly password: string | undefined
  readonly database: number
}

const DEFAULT_PORT = 6379
const TLS: ReadonlyMap<string, boolean> = new Map([
  ['redis:', false],
  ['valkey:', false],
  ['rediss:', true],
  ['valkeys:', true],
])

export function parseEndpoint(text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol === 'unix:') return unixEndpoint(url)
  const tls = url === null ? undefined : TLS.get(url.protocol)
  // The address itself stays out of the message: nobody knows which part of it is secret.
  if (url === null || tls === undefined || url.hostname === '')
    throw new UnknownEngineError(
      'The address of the Redis server is not understood. Write redis://host:port, rediss://user:password@host:port/0 or unix:///path/to/socket.',
    )
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port)
  return {
    label: labelOf(host, port),
    socket: { host, port, tls },
    ...credentials(url),
    database: databaseNumber(url.pathname.slice(1)),
  }
}

/** Another server of the same cluster: signed in to in the same way. */
export function sibling(endpoint: Endpoint, host: string, port: number): Endpoint {
  return { ...endpoint, label: labelOf(host, port), socket: { host, port, tls: endpoint.socket.tls }, database: 0 }
}

function unixEndpoint(url: URL): Endpoint {
  const path = decodeURIComponent(url.pathname)
  return {
    label: path,
    socket: { path, tls: false },
    ...credentials(url),
    database: databaseNumber(url.searchParams.get('db') ?? ''),
  }
}

function credentials(url: URL): Pick<Endpoint, 'username' | 'password'> {
  return { username: decoded(url.username), password: decoded(url.password) }
}

function decoded(part: string): string | undefined {
  if (part === '') return undefined
  try {
    return decodeURIComponent(part)
  } catch {
    // A percent sign that stands for itself.
    return part
  }
}

function databaseNumber(text: string): number {
  if (text === '') return 0
  if (!/^\d{1,5}$/.test(text))
    throw new UnknownEngineError(
      'The path of a Redis address is the number of a database, such as redis://host:6379/0.',
    )
  return Number(text)
}

function labelOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
