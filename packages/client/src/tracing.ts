// Spans of submissions, by OpenTelemetry's API alone: without an SDK in the process nothing is made and nothing is paid. The
// trace goes on in the tasks' label `traceparent`, by which workers link their attempts to it.

import { context, isSpanContextValid, type SpanContext, SpanKind, trace } from '@opentelemetry/api'
import { endingSpan, formatTraceparent, quietly, registeredTracer, TRACEPARENT_LABEL, withLabel } from '@reprise/core'
import type { Submission } from './backend.ts'

/** Hands tasks to `submit` inside a span, and labels them with its context. */
export function tracedSubmit<T>(
  specs: readonly Submission[],
  submit: (specs: readonly Submission[]) => Promise<T>,
): Promise<T> {
  const tracer = registeredTracer(trace.getTracerProvider(), TRACER)
  // Without an SDK there may still be a context that somebody else made and that goes on.
  if (tracer === undefined) return submit(labelled(specs, trace.getActiveSpan()?.spanContext()))
  const span = quietly(() =>
    tracer.startSpan('reprise.submit', { kind: SpanKind.PRODUCER, attributes: attributesOf(specs) }),
  )
  if (span === undefined) return submit(specs)
  const labelledSpecs = labelled(specs, span.spanContext())
  return endingSpan(
    span,
    context.with(trace.setSpan(context.active(), span), () => submit(labelledSpecs)),
  )
}

const TRACER = '@reprise/client'

function attributesOf(specs: readonly Submission[]): Record<string, string | number> {
  const [first] = specs
  if (first === undefined) return {}
  const of = {
    'reprise.action': first.action,
    ...(first.pool === null ? {} : { 'reprise.pool': first.pool }),
    ...(first.tenant === null ? {} : { 'reprise.tenant': first.tenant }),
  }
  return specs.length === 1 ? { ...of, 'reprise.task_id': first.id } : { ...of, 'reprise.tasks': specs.length }
}

/** A label that the caller set stays, and a task that has as many labels as it may goes untraced. */
function labelled(specs: readonly Submission[], parent: SpanContext | undefined): readonly Submission[] {
  if (parent === undefined || !isSpanContextValid(parent)) return specs
  const traceparent = formatTraceparent(parent)
  return specs.map((spec) => withLabel(spec, TRACEPARENT_LABEL, traceparent))
}
