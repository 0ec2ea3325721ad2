// The W3C trace context in its text form, by which a trace goes on across processes: from a request to the task it
// submits, and to every attempt of it. Pure: reading and writing the text. Spans are the business of the tracer.

/** The label of a task that carries its submitter's trace context. Reserved for that. */
export const TRACEPARENT_LABEL = 'traceparent'

export interface TraceParent {
  /** 32 lower-case hexadecimal digits, not all of them 0. */
  readonly traceId: string
  /** 16 of them. */
  readonly spanId: string
  /** One byte; its lowest bit says that the trace is recorded. */
  readonly traceFlags: number
}

// Later versions may say more after the flags; version ff is never used.
const TEXT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const LENGTH_MAX = 200
const VERSION_0 = '00'

/** Null for whatever is not one: a trace that can't be followed is no reason to refuse anything. */
export function parseTraceparent(text: unknown): TraceParent | null {
  if (typeof text !== 'string' || text.length > LENGTH_MAX) return null
  const [, version, traceId = '', spanId = '', flags = '', more] = TEXT.exec(text) ?? []
  if (version === undefined || (version === VERSION_0 && more !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) }
}

export function formatTraceparent({ traceId, spanId, traceFlags }: TraceParent): string {
  return `${VERSION_0}-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`
}
