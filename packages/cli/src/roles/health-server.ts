// /healthz, /readyz and /metrics of a process that has no API: orchestrators and workers. On loopback unless told otherwise,
// since it asks nobody who they are. It says nothing about tasks.

import { createServer, type ServerResponse } from 'node:http'
import type { RoleContext } from './role-context.ts'

/** Why the role can't do its work now; null if it can. Asked at each /readyz. */
type NotReady = () => Promise<string | null>

export interface HealthServer {
  /** `http://127.0.0.1:9320`. */
  readonly url: string
  close(): Promise<void>
}

/** Where the configuration says, with the metrics of the role. */
export async function serveRoleHealth({ resolved, metrics }: RoleContext, notReady: NotReady): Promise<HealthServer> {
  const { METRICS_CONTENT_TYPE, metricsText } = await import('@reprise/telemetry')
  const { healthHost, healthPort } = resolved.values
  const respond = async (path: string, response: ServerResponse): Promise<void> => {
    switch (path) {
      case '/healthz':
        return json(response, 200, { status: 'ok' })
      case '/readyz': {
        const because = await notReady()
        if (because === null) return json(response, 200, { status: 'ready' })
        return json(response, 503, { status: 'not ready', because })
      }
      case '/metrics':
        return answer(response, 200, METRICS_CONTENT_TYPE, await metricsText(metrics))
      default:
        return json(response, 404, { status: 'not found' })
    }
  }
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1)
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'text/plain', '')
    // The log of the role has the reason; a probe needs to know only that.
    respond(path, response).catch(() =>
      json(response, 503, { status: 'not ready', because: 'It could not be found out.' }),
    )
  })
  // A probe that never finishes its request must not be kept for ever.
  server.requestTimeout = 5_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(healthPort, healthHost, resolve)
  })
  // The role keeps the process alive, not this.
  server.unref()
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('An HTTP server on a port has an address.')
  return {
    url: `http://${healthHost.includes(':') ? `[${healthHost}]` : healthHost}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const json = (response: ServerResponse, status: number, body: object): void =>
  answer(response, status, 'application/json', JSON.stringify(body))

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}
