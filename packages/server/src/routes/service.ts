// Handlers about the server itself: alive, ready, metrics, what it is.

import { inTime, present, RequestError } from '@reprise/core'
import { type Context, openApiDocument, ROUTES, type serviceRoutes, wholeStore } from '@reprise/operations'
import { storeIdentity } from '@reprise/orchestrator'
import type { FastifyRequest } from 'fastify'
import { type Handlers, json, text } from '../http/handler.ts'
import type { Authenticate } from '../http/route-registration.ts'
import { storeName } from '../store-patience.ts'

export interface ServiceRoutesOptions {
  /** The text of all metrics, for Prometheus. */
  readonly metricsText: () => Promise<string>
  /** Whether the caller is on this host. */
  readonly isNear: (request: FastifyRequest) => boolean
  readonly authenticate: Authenticate
  readonly stopping: AbortSignal
  /** Where callers find this server. */
  readonly url: () => string
}

const READY_MS = 2_000
const SHARED_MS = 1_000
/** Stands for the address of this server. */
const ADDRESS = 'https://address.invalid'
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function serviceHandlers(context: Context, options: ServiceRoutesOptions): Handlers<typeof serviceRoutes> {
  const ready = new SharedReadiness(context)
  // Made at the start, since it takes a while. The port may not be known yet, so the address comes in later.
  const document = JSON.stringify(openApiDocument(ROUTES, { version: context.version, url: ADDRESS })).split(ADDRESS)
  return {
    health: () => json(200, { status: 'ok' }),
    ready: async () => {
      const because = options.stopping.aborted ? 'The server is about to stop.' : await ready.look()
      if (because !== null) return json(503, { status: 'not ready', because })
      // A store that is full can be read, and gets no identity.
      const store = await storeIdentity(context.engine).catch(() => null)
      return json(200, { status: 'ready', ...present({ store }) })
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
      // They are about all tenants together, and name actions and pools.
      if (caller !== null) wholeStore(caller)
      return text(200, await options.metricsText(), METRICS_TYPE)
    },
    openapi: () => text(200, document.join(options.url()), 'application/json; charset=utf-8'),
  }
}

/** Anybody may ask, and as often as they like: the store is asked once a second at the most. */
class SharedReadiness {
  readonly #context: Pick<Context, 'engine' | 'clock'>
  #asked: { readonly at: number; readonly answer: Promise<string | null> } | null = null

  constructor(context: Pick<Context, 'engine' | 'clock'>) {
    this.#context = context
  }

  look(): Promise<string | null> {
    const now = this.#context.clock.monotonic()
    if (this.#asked === null || now - this.#asked.at >= SHARED_MS) {
      this.#asked = { at: now, answer: trouble(this.#context) }
    }
    return this.#asked.answer
  }
}

/** Why it can't serve now; null if it can. A store that hangs must not make the question hang. */
async function trouble({ engine, clock }: Pick<Context, 'engine' | 'clock'>): Promise<string | null> {
  try {
    const answer = await inTime(clock, READY_MS, engine.now())
    return answer === 'late' ? `${storeName(engine)} does not answer in time.` : null
  } catch {
    return `${storeName(engine)} does not answer.`
  }
}
