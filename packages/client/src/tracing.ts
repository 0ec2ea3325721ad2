// Spans of submissions, by OpenTelemetry's API alone: without an SDK in the process nothing is made and nothing is paid. The
// trace goes on in the tasks' label `traceparent`, by which workers link their attempts to it.

import {
  context,
  isSpanContextValid,
  ProxyTracerProvider,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { formatTraceparent, TRACEPARENT_LABEL, withLabel } from '@reprise/core'
import type { Submission } from './backend.ts'

/** Hands tasks to `submit` inside a span, and labels them with its context. */
export function tracedSubmit<T>(
  specs: readonly Submission[],
  submit: (specs: readonly Submission[]) => Promise<T>,
): Promise<T> {
  const tracer = registeredTracer()
  // Without an SDK there may still be a context that somebody else made and that goes on.
  if (tracer === undefined) return submit(labelled(specs, trace.getActiveSpan()?.spanContext()))
  const span = quietly(() =>
    tracer.startSpan('reprise.submit', { kind: SpanKind.PRODUCER, attributes: attributesOf(specs) }),
  )
  if (span === undefined) return submit(specs)
  const labelledSpecs = labelled(specs, span.spanContext())
  return context
    .with(trace.setSpan(context.active(), span), () => submit(labelledSpecs))
    .then(
      (answer) => {
        quietly(() => span.end())
        return answer
      },
      (error: unknown) => {
        quietly(() => {
          span.setStatus({ code: SpanStatusCode.ERROR })
          if (error instanceof Error) span.setAttribute('error.type', error.name)
          span.end()
        })
        throw error
      },
    )
}

/** An SDK that fails, or something that was plugged into it, must not stop a submission. */
function quietly<T>(step: () => T): T | undefined {
  try {
    return step()
  } catch {
    return undefined
  }
}

/** Undefined while no SDK is registered. */
function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  return provider instanceof ProxyTracerProvider ? provider.getDelegateTracer(TRACER) : provider.getTracer(TRACER)
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
