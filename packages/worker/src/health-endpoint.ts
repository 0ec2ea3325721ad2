// A tiny HTTP endpoint that says whether this worker is well: for probes of the orchestrator and of the platform it runs
// on. On loopback unless told otherwise, since it asks nobody who they are. It says nothing about tasks.

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HealthAnswer {
  /** Whether it takes work: 200 if so, else 503. */
  readonly ok: boolean
  readonly body: { readonly state: string; readonly inFlight: number; readonly loopLagMs: number }
}

export interface HealthAddress {
  /** 0 for any that is free. */
  readonly port: number
  readonly host: string
}

export interface HealthEndpoint {
  /** Where it answers: `http://127.0.0.1:9320/healthz`. */
  readonly url: string
  close(): Promise<void>
}

const PATH = '/healthz'

/** Comes back when it listens. Rejects if it can't, for example because the port is taken. */
export async function serveHealth(
  address: HealthAddress,
  /** The name of this host, under which a worker that listens on every address is asked. */
  hostName: string,
  answer: () => HealthAnswer,
): Promise<HealthEndpoint> {
  const server = createServer(listener(answer))
  await listening(server, address)
  // The worker's heartbeat keeps the process alive, not this.
  server.unref()
  return {
    url: urlOf(server.address(), isEveryAddress(address.host) ? hostName : address.host),
    close: () => closed(server),
  }
}

function listener(answer: () => HealthAnswer): RequestListener {
  return ({ method, url = '' }, response) => {
    const [path] = url.split('?', 1)
    if (path !== PATH || (method !== 'GET' && method !== 'HEAD')) {
      response.writeHead(path === PATH ? 405 : 404).end()
      return
    }
    const { ok, body } = answer()
    response.writeHead(ok ? 200 : 503, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(method === 'HEAD' ? undefined : JSON.stringify(body))
  }
}

function listening(server: Server, { port, host }: HealthAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'

function urlOf(bound: AddressInfo | string | null, name: string): string {
  if (bound === null || typeof bound === 'string') throw new TypeError('An HTTP server on a port has an address.')
  return `http://${name.includes(':') ? `[${name}]` : name}:${bound.port}${PATH}`
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
