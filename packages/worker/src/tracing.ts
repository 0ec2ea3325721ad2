// Spans of attempts and settlements, by OpenTelemetry's API alone: without an SDK in the process nothing is made and nothing is
// paid. An attempt begins a trace of its own, linked to its submitter's: it may run days later, and more than once. The handler
// runs in the attempt's context, so that its own spans belong to it.

import {
  type Attributes,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import {
  type Claimed,
  endingSpan,
  parseTraceparent,
  quietly,
  registeredTracer,
  type Settlement,
  TRACEPARENT_LABEL,
} from '@reprise/core'

/** What is traced of an execution. */
export interface TracedExecution {
  readonly claimed: Claimed
  readonly settlement: Settlement | null
}

const TRACER = '@reprise/worker'
/** More links than this are dropped by SDKs anyway. */
const LINKS_MAX = 128

/** Kept until the execution itself is let go: its settlement is linked to it. */
const spans = new WeakMap<TracedExecution, Span>()

/** Runs an attempt in a span of its own, which `endAttempt` ends: a handler may run on after that. */
export function inAttempt<T>(execution: TracedExecution, run: () => T): T {
  const tracer = registeredTracer(trace.getTracerProvider(), TRACER)
  if (tracer === undefined) return run()
  const { claimed } = execution
  const span = quietly(() =>
    tracer.startSpan(
      'reprise.attempt',
      { kind: SpanKind.CONSUMER, root: true, attributes: attributesOf(claimed), links: linksOf(claimed) },
      ROOT_CONTEXT,
    ),
  )
  if (span === undefined) return run()
  spans.set(execution, span)
  return context.with(trace.setSpan(ROOT_CONTEXT, span), run)
}

/** The execution has ended here. */
export function endAttempt(execution: TracedExecution): void {
  const span = spans.get(execution)
  if (span !== undefined) quietly(() => ended(span, execution.settlement))
}

function ended(span: Span, settlement: Settlement | null): void {
  span.setAttribute('reprise.outcome', settlement?.kind ?? 'superseded')
  // The message of a failure may hold anything; its code and reason don't.
  if (settlement?.kind === 'failed') {
    span.setAttributes({
      'error.type': settlement.failure.code,
      'reprise.reason': settlement.failure.reason,
      'reprise.decision': settlement.decision.kind,
    })
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

/** Brings settlements to the store in a span that is linked to their attempts. */
export function inSettlement<T>(batch: readonly TracedExecution[], settle: () => Promise<T>): Promise<T> {
  const tracer = registeredTracer(trace.getTracerProvider(), TRACER)
  if (tracer === undefined || batch.length === 0) return settle()
  const links: Link[] = []
  for (const execution of batch) {
    const attempt = spans.get(execution)
    if (attempt !== undefined && links.length < LINKS_MAX) links.push({ context: attempt.spanContext() })
  }
  const attributes = { 'reprise.settlements': batch.length }
  const options = { kind: SpanKind.CLIENT, root: true, attributes, links }
  const span = quietly(() => tracer.startSpan('reprise.settle', options, ROOT_CONTEXT))
  if (span === undefined) return settle()
  return endingSpan(span, context.with(trace.setSpan(ROOT_CONTEXT, span), settle))
}

function attributesOf({ taskId, attempt, retryReason, snapshot }: Claimed): Attributes {
  return {
    'reprise.task_id': taskId,
    'reprise.attempt': attempt,
    'reprise.action': snapshot.action,
    'reprise.pool': snapshot.pool,
    'reprise.tenant': snapshot.tenant,
    ...(retryReason === null ? {} : { 'reprise.retry_reason': retryReason }),
  }
}

/** A label that is no trace context is passed over: anybody can set it. */
function linksOf({ snapshot }: Claimed): Link[] {
  const parent = parseTraceparent(snapshot.labels[TRACEPARENT_LABEL])
  return parent === null ? [] : [{ context: { ...parent, isRemote: true } }]
}
