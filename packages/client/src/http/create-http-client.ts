// Makes a client that speaks HTTP. It needs no store, no driver and no schema library: a browser can use it as well.

import { openTransport, refuseUnknownKeys, type ServerOptions } from '@reprise/core'
import { type Around, type Client, type CommonOptions, clientOn, tenantOf } from '../client.ts'
import { httpBackend } from './http-backend.ts'

export interface HttpClientOptions extends CommonOptions, ServerOptions {
  readonly engine?: never
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

/** Asks the server nothing yet: that it can't be reached is told by the first call. */
export function createHttpClient(
  options: HttpClientOptions,
  around: Around = (tasks, submit) => submit(tasks),
): Client {
  refuseUnknownKeys(options, HTTP_OPTIONS, 'client option')
  return clientOn(httpBackend(openTransport(options)), tenantOf(options), around)
}
