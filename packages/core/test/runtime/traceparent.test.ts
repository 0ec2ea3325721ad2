// The W3C trace context as text: what is read, what is passed over, and that writing it gives the same again.

import { formatTraceparent, parseTraceparent } from '@reprise/core'
import { expect, test } from 'vitest'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('reads a trace context and writes it again', () => {
  const text = `00-${TRACE}-${SPAN}-01`
  const parent = parseTraceparent(text)
  expect(parent).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags: 1 })
  expect(parent === null ? null : formatTraceparent(parent)).toBe(text)
})

test('reads what a later version says more, and writes version 0', () => {
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future-brings`)).toEqual({
    traceId: TRACE,
    spanId: SPAN,
    traceFlags: 1,
  })
})

test.each([
  undefined,
  null,
  7,
  '',
  'traceparent',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01\n`,
  `cc-${TRACE}-${SPAN}-01-${'x'.repeat(1_000)}`,
])('passes over %j', (text) => {
  expect(parseTraceparent(text)).toBeNull()
})
