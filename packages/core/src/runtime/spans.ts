// What the client, the worker and the server have in common about spans. It knows OpenTelemetry's API by its shape alone:
// core depends on no package, and without an SDK in the process no span is made and nothing is paid.

import { quietly } from './quietly.ts'

interface Provider<Tracer> {
  getTracer(name: string): Tracer
}

/** Stands in for the SDK's provider until one is registered. */
interface ProxyProvider<Tracer> extends Provider<Tracer> {
  getDelegateTracer(name: string): Tracer | undefined
}

interface Span {
  setStatus(status: { code: typeof ERROR }): unknown
  setAttribute(key: string, value: string): unknown
  end(): void
}

/** OpenTelemetry's SpanStatusCode.ERROR. */
const ERROR = 2

/** Undefined while no SDK is registered. */
export function registeredTracer<Tracer>(provider: Provider<Tracer>, name: string): Tracer | undefined {
  return isProxy(provider) ? provider.getDelegateTracer(name) : provider.getTracer(name)
}

function isProxy<Tracer>(provider: Provider<Tracer>): provider is ProxyProvider<Tracer> {
  return 'getDelegateTracer' in provider
}

/** Ends the span when the work ends, marked as an error if the work failed. An SDK that throws fails no work. */
export async function endingSpan<T>(span: Span, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    quietly(() => {
      span.setStatus({ code: ERROR })
      if (error instanceof Error) span.setAttribute('error.type', error.name)
    })
    throw error
  } finally {
    quietly(() => span.end())
  }
}
