// What is allowed in a book of policies and hardly meant: a policy that can't make its SLA (B14), and one that is never reached.

import { backoffMs, formatDuration, type Policy, type PolicyBook } from '@reprise/core'

/** Sentences for people; none if there is nothing to say. */
export function policyNotes(book: PolicyBook): readonly string[] {
  const notes = book.policies.flatMap((policy) => slaNote(policy) ?? [])
  const first = book.policies.findIndex(({ match }) => Object.keys(match).length === 0)
  const hidden = first === -1 ? [] : book.policies.slice(first + 1)
  return [
    ...notes,
    ...hidden.map(
      ({ name }) => `Policy '${name}' is never reached: '${book.policies[first]?.name}' before it matches everything.`,
    ),
  ]
}

/** How many of its retries can't start in time, even if every attempt fails at once; null if all can. */
export function slaNote(policy: Pick<Policy, 'name' | 'slaMs' | 'retries' | 'backoff'>): string | null {
  const { name, slaMs, retries, backoff } = policy
  if (slaMs === undefined || retries === undefined || backoff === undefined) return null
  let atMs = 0
  for (let retry = 0; retry < retries; retry++) {
    // The shortest that chance allows.
    atMs += backoffMs(backoff, retry, 0)
    if (atMs >= slaMs) {
      return `Policy '${name}' can't make its SLA of ${formatDuration(slaMs)}: of its ${retries} retries at most ${retry} can start in time.`
    }
  }
  return null
}
