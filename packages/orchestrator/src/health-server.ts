// A tiny HTTP server that says whether a process is well: for probes of the orchestrator and of the platform it runs on. On
// loopback unless told otherwise, since it asks nobody who they are. It says nothing about tasks.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export interface HealthAddress {
  /** 0 for any that is free. */
  readonly port: number
  readonly host: string
}

export interface HealthAnswer {
  /** 200 if so, else 503. */
  readonly ok: boolean
  /** An object goes out as JSON, a text as what `type` says. */
  readonly body: object | string
  readonly type?: string
}

export interface HealthServer {
  /** Where it answers: `http://127.0.0.1:9320`. */
  readonly url: string
  close(): Promise<void>
}

type Paths = Readonly<Record<string, () => HealthAnswer | Promise<HealthAnswer>>>

const UNCLEAR: HealthAnswer = { ok: false, body: { status: 'not ready', because: 'It could not be found out.' } }

/**
 * Comes back when it listens, and rejects if it can't, for example because the port is taken. `hostName` is the name under which a
 * process that listens on every address is asked.
 */
export async function serveHealth(
  { port, host }: HealthAddress,
  paths: Paths,
  hostName: string = host,
): Promise<HealthServer> {
  const server = createServer((request, response) => void respond(request, response, paths))
  // A probe that never finishes its request must not be kept for ever.
  server.requestTimeout = 5_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  // The process is kept alive by its work, not by this.
  server.unref()
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('An HTTP server on a port has an address.')
  const name = host === '0.0.0.0' || host === '::' ? hostName : host
  return {
    url: `http://${name.includes(':') ? `[${name}]` : name}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function respond({ method, url = '' }: IncomingMessage, response: ServerResponse, paths: Paths): Promise<void> {
  const [path = ''] = url.split('?', 1)
  const ask = Object.hasOwn(paths, path) ? paths[path] : undefined
  if (ask === undefined) return send(response, 404, { status: 'not found' })
  if (method !== 'GET' && method !== 'HEAD') return send(response, 405, '', 'text/plain')
  // The log of the process has the reason; a probe needs to know only that.
  const { ok, body, type } = await Promise.try(ask).catch(() => UNCLEAR)
  send(response, ok ? 200 : 503, body, type)
}

function send(response: ServerResponse, status: number, body: object | string, type = 'application/json'): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
