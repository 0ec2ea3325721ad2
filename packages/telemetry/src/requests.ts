// What is said of each request to the HTTP API once it was answered: one observation and one log line. The path is written
// without its query, which may hold anything, and without codes that let somebody in; the metric has the pattern of the route, which no caller can make up.

import type { Logger } from '@reprise/core'
import { CATALOGUE } from './catalogue.ts'
import { histogram, type MetricsRegistry } from './registry.ts'

export interface AnsweredRequest {
  readonly method: string
  /** The pattern: `/api/v1/tasks/:id`; null if no route matched. */
  readonly route: string | null
  readonly url: string
  readonly status: number
  readonly durationMs: number
  readonly requestId: string
  /** Who it was, as far as is known: `user:ann@example.com`, `token:ci`; null if nobody said. */
  readonly actor: string | null
  readonly address: string | null
  readonly traceId?: string
  /** Set for requests that come every few seconds and tell nothing: they are logged as debug. */
  readonly isRoutine?: boolean
}

export interface RequestObserverOptions {
  readonly metrics: MetricsRegistry
  readonly log: Logger
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const NO_ROUTE = 'none'

export function requestObserver({ metrics, log }: RequestObserverOptions): (request: AnsweredRequest) => void {
  const durations = histogram(metrics, CATALOGUE.httpRequest)
  return (request) => {
    const { method, route, url, status, durationMs } = request
    durations.observe(
      {
        method: METHODS.has(method) ? method : 'other',
        route: route ?? NO_ROUTE,
        status: String(status),
      },
      Math.max(durationMs, 0) / 1_000,
    )
    log[levelOf(request)]('A request was answered.', {
      event: 'http.request',
      request_id: request.requestId,
      method,
      path: pathOf(url, route),
      route,
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      actor: request.actor,
      address: request.address,
      ...(request.traceId === undefined ? {} : { trace_id: request.traceId }),
    })
  }
}

/** Parameters of routes whose values are secrets while they are good: /auth/link/:code. */
const SECRET_PARAMETER = /:(?:code|secret|token)\b/
/** As long as a code, in a path that is no route's: most likely a link that was copied badly. */
const LONG_PART = /[\w-]{32,}/g

function pathOf(url: string, route: string | null): string {
  if (route !== null && SECRET_PARAMETER.test(route)) return route
  const path = url.split(/[?#]/, 1)[0] ?? ''
  return route === null ? path.replaceAll(LONG_PART, '…') : path
}

function levelOf({ status, isRoutine }: AnsweredRequest): keyof Logger {
  if (status >= 500) return 'error'
  return isRoutine === true ? 'debug' : 'info'
}
