// The part of a trace that a request to the HTTP API is: from the caller's context, in the header `traceparent`, to the tasks
// that it submits. By OpenTelemetry's API alone; without an SDK the caller's context is handed on as it came.

import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { formatTraceparent, parseTraceparent, quietly, registeredTracer, type TraceParent } from '@reprise/core'

export interface TracedRequest {
  readonly method: string
  /** The pattern: `/api/v1/tasks/:id`. */
  readonly route: string
  /** The header as it came; whatever is no trace context is passed over. */
  readonly traceparent: string | undefined
}

const TRACER = '@reprise/server'

/** Runs the handler of a request in a span `reprise.request`, in the trace of its caller if there is one. */
export async function inRequest<T>(
  request: TracedRequest,
  handle: () => Promise<T>,
  statusOf?: (answer: T) => number,
): Promise<T> {
  const { method, route } = request
  const parent = parseTraceparent(request.traceparent)
  const outer = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
  const tracer = registeredTracer(trace.getTracerProvider(), TRACER)
  const attributes = { 'http.request.method': method, 'http.route': route }
  const span = quietly(() => tracer?.startSpan('reprise.request', { kind: SpanKind.SERVER, attributes }, outer))
  if (span === undefined) return parent === null ? handle() : context.with(outer, handle)
  try {
    const answer = await context.with(trace.setSpan(outer, span), handle)
    quietly(() => noteStatus(span, statusOf?.(answer)))
    return answer
  } catch (error) {
    quietly(() => span.setStatus({ code: SpanStatusCode.ERROR }))
    throw error
  } finally {
    quietly(() => span.end())
  }
}

/** For the label of a task: the context of now, or else what the request brought; null if neither is one. */
export function traceparentFor(incoming: string | undefined): string | null {
  const active = trace.getActiveSpan()?.spanContext()
  const found: TraceParent | null =
    active !== undefined && isSpanContextValid(active) ? active : parseTraceparent(incoming)
  return found === null ? null : formatTraceparent(found)
}

function noteStatus(span: Span, status: number | undefined): void {
  if (status === undefined) return
  span.setAttribute('http.response.status_code', status)
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
}
