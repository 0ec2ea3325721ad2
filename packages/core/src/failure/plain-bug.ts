// Failures that no rule knows, and that come again all the same: a bug in the code, or a value that a schema refuses. They are
// known by the class of what was thrown. Whoever retries unknown failures does not retry these.

import type { Failure } from './failure.ts'

const BUGS: ReadonlySet<string> = new Set([
  'TypeError',
  'ReferenceError',
  'SyntaxError',
  'RangeError',
  'AssertionError',
])

/** Of the usual schema libraries. */
const REFUSALS: ReadonlySet<string> = new Set(['ValidationError', 'ZodError', '$ZodError', 'ValiError', 'SchemaError'])

/** What `fetch` says when the network fails: it throws a TypeError then. */
const NETWORK = /^(?:fetch failed|failed to fetch|load failed|terminated|networkerror|network request failed)/i

export function isPlainBug({ name, message }: Pick<Failure, 'name' | 'message'>): boolean {
  return BUGS.has(name) && !(name === 'TypeError' && NETWORK.test(message))
}

export const isRefusal = ({ name }: Pick<Failure, 'name'>): boolean => REFUSALS.has(name)
