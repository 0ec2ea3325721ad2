// Failures that no rule knows, and that come again all the same: a bug in the code, or a value that a schema refuses. They are
// known by the class of what was thrown. A policy that retries unknown failures does not retry these.

import type { Failure } from './failure.ts'

const BUGS = /^(?:Type|Reference|Syntax|Range|Assertion)Error$/

/** Of the usual schema libraries. */
const REFUSALS = /^(?:Validation|\$?Zod|Vali|Schema)Error$/

/** What `fetch` says when the network fails: it throws a TypeError then. */
const NETWORK = /^(?:fetch failed|failed to fetch|load failed|terminated|networkerror|network request failed)/i

export function isPlainBug({ name, message }: Pick<Failure, 'name' | 'message'>): boolean {
  return BUGS.test(name) && !(name === 'TypeError' && NETWORK.test(message))
}

export const isRefusal = ({ name }: Pick<Failure, 'name'>): boolean => REFUSALS.test(name)

/** Why a failure that is not retried is not, and what to change if it should be. */
export function whyNotRetried(failure: Pick<Failure, 'name' | 'message' | 'reason' | 'rule'>): string {
  const { reason, rule, name } = failure
  if (rule === 'unknown') {
    const likely = isPlainBug(failure) ? 'is most likely a bug' : isRefusal(failure) && 'says that a value is not valid'
    if (likely) {
      return `${name.startsWith('A') ? 'An' : 'A'} ${name} ${likely}, so it is not retried. If it does go away, throw TransientError or add a rule for it.`
    }
    return 'No rule knows this failure, so it is not retried. Throw TransientError, add a rule for it, or set retry.max or retry.unknown in the action.'
  }
  if (rule === 'handler') return 'The handler says that a retry does not help.'
  return `A failure of this kind (${reason}, by rule ${rule}) does not go away by itself.`
}
