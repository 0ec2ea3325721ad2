// Handlers about the server itself: alive, ready, metrics, what it is.

import { type Clock, RequestError, sleep } from '@reprise/core'
import { type Context, openApiDocument, ROUTES, type serviceRoutes } from '@reprise/operations'
import type { FastifyRequest } from 'fastify'
import { type Handlers, json, text } from '../http/handler.ts'
import type { Authenticate } from '../http/route-registration.ts'

export interface ServiceRoutesOptions {
  /** The text of all metrics, for Prometheus. */
  readonly metricsText: () => Promise<string>
  /** Whether the caller is on this host. */
  readonly isNear: (request: FastifyRequest) => boolean
  readonly authenticate: Authenticate
  readonly stopping: AbortSignal
}

const READY_MS = 2_000
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function serviceHandlers(context: Context, options: ServiceRoutesOptions): Handlers<typeof serviceRoutes> {
  const document = JSON.stringify(openApiDocument(ROUTES, { version: context.version }))
  return {
    health: () => json(200, { status: 'ok' }),
    ready: async () => {
      const because = options.stopping.aborted ? 'The server is about to stop.' : await trouble(context)
      return because === null ? json(200, { status: 'ready' }) : json(503, { status: 'not ready', because })
    },
    metrics: async ({ request }) => {
      const isNear = options.isNear(request)
      const caller = isNear ? null : await options.authenticate(request)
      if (!isNear && caller?.scopes.has('read') !== true) {
        throw new RequestError(
          caller === null ? 'REPRISE_UNAUTHENTICATED' : 'REPRISE_FORBIDDEN',
          "Metrics are for callers on the same host. All others need the scope 'read'.",
        )
      }
      return text(200, await options.metricsText(), METRICS_TYPE)
    },
    openapi: () => text(200, document, 'application/json; charset=utf-8'),
  }
}

/** Why it can't serve now; null if it can. A store that hangs must not make the question hang. */
async function trouble({ engine, clock }: Pick<Context, 'engine' | 'clock'>): Promise<string | null> {
  const late = new AbortController()
  try {
    return await Promise.race([engine.now().then(() => null), tooLate(clock, late.signal)])
  } catch {
    return 'The store does not answer.'
  } finally {
    late.abort()
  }
}

async function tooLate(clock: Clock, signal: AbortSignal): Promise<string> {
  await sleep(clock, READY_MS, signal)
  return 'The store does not answer in time.'
}
