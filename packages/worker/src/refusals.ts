// Which errors of a store are about what was sent: repeating the call would bring the same answer.

import { isRepriseError } from '@reprise/core'

/** The store says that what was sent is wrong, rather than that it can't do it now. */
export function isRefusal(error: unknown): boolean {
  return isRepriseError(error) && error.status < 500 && !NOT_ABOUT_CONTENT.has(error.code)
}

/** Of a store behind a server: who asks, or how often, is what it does not like. */
const NOT_ABOUT_CONTENT: ReadonlySet<string> = new Set([
  'REPRISE_NOT_FOUND',
  'REPRISE_UNAUTHENTICATED',
  'REPRISE_FORBIDDEN',
  'REPRISE_RATE_LIMITED',
  'REPRISE_UNREACHABLE',
])
