// /healthz, /readyz and /metrics of a process that has no API: orchestrators and workers. On loopback unless told otherwise,
// since it asks nobody who they are. It says nothing about tasks.

import { createServer, type ServerResponse } from 'node:http'
import type { RoleContext } from './role-context.ts'

interface HealthServerOptions {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** Why it can't do its work now; null if it can. Asked at each /readyz. */
  readonly notReady: () => Promise<string | null>
  /** What a scrape gets. */
  readonly metrics: () => Promise<string>
  readonly metricsType: string
}

export interface HealthServer {
  /** `http://127.0.0.1:9320`. */
  readonly url: string
  close(): Promise<void>
}

async function serveHealth(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1)
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'text/plain', '')
    void respond(options, path, response)
  })
  // A probe that never finishes its request must not be kept for ever.
  server.requestTimeout = 5_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  // The role keeps the process alive, not this.
  server.unref()
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('An HTTP server on a port has an address.')
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Where the configuration says, with the metrics of the role. */
export async function serveRoleHealth(
  { resolved, metrics }: RoleContext,
  notReady: HealthServerOptions['notReady'],
): Promise<HealthServer> {
  const { METRICS_CONTENT_TYPE, metricsText } = await import('@reprise/telemetry')
  const { healthHost: host, healthPort: port } = resolved.values
  return serveHealth({
    host,
    port,
    notReady,
    metrics: () => metricsText(metrics),
    metricsType: METRICS_CONTENT_TYPE,
  })
}

async function respond(options: HealthServerOptions, path: string, response: ServerResponse): Promise<void> {
  try {
    switch (path) {
      case '/healthz':
        return json(response, 200, { status: 'ok' })
      case '/readyz': {
        const because = await options.notReady()
        if (because === null) return json(response, 200, { status: 'ready' })
        return json(response, 503, { status: 'not ready', because })
      }
      case '/metrics':
        return answer(response, 200, options.metricsType, await options.metrics())
      default:
        return json(response, 404, { status: 'not found' })
    }
  } catch {
    // The log of the role has the reason; a probe needs to know only that.
    json(response, 503, { status: 'not ready', because: 'It could not be found out.' })
  }
}

const json = (response: ServerResponse, status: number, body: object): void =>
  answer(response, status, 'application/json', JSON.stringify(body))

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}
