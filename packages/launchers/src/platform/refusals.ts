// What a launcher throws when a platform refused to start a worker: each says whether trying again can help, and none of them left
// anything behind.

import { PlatformFullError } from '@reprise/core'
import { describedFailure } from '../described-failure.ts'

/** Nothing was sent because the order was void. */
export const launchVoid = (): Error =>
  describedFailure({
    code: 'LAUNCH_VOID',
    says: 'transient',
    message: 'The launch was held up for so long that the attempt may be somebody else’s by now. Nothing was started.',
  })

/** The platform has no room, or wants fewer calls. */
export const platformFull = (platform: string, words: string, retryAfterMs: number | null = null): Error =>
  new PlatformFullError(`${platform} has no room for another worker now: ${words}`, { retryAfterMs })

/** The orchestrator may not do this. */
export const launchDenied = (platform: string, words: string): Error =>
  describedFailure({
    code: 'LAUNCH_DENIED',
    says: 'permanent',
    message: `${platform} does not allow the launch: ${words} Check the rights of the orchestrator’s credentials.`,
  })

/** The order or the configuration is wrong. */
export const launchRefused = (platform: string, words: string): Error =>
  describedFailure({ code: 'LAUNCH_REFUSED', says: 'permanent', message: `${platform} refused the launch: ${words}` })

/** The platform was not reached: nothing was sent. */
export const notReached = (platform: string, words: string): Error =>
  describedFailure({
    code: 'LAUNCH_UNREACHABLE',
    says: 'transient',
    message: `${platform} could not be reached: ${words} Nothing was started.`,
  })

/** Of connections that never stood: nothing can have been sent. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** Whether an error of a call, or what caused it, says that the connection never stood. */
export function wasNotSent(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth += 1) {
    if ('code' in one && typeof one.code === 'string' && NOT_SENT.has(one.code)) return true
  }
  return false
}
