// What an error of an AWS client means for a start: refused, and whether trying again can help, or unclear. The SDK repeats what
// it may repeat by itself; this is what is left after that.

import { messageOf } from '@reprise/core'
import { UnclearStartError } from '../platform/platform.ts'
import { launchDenied, launchRefused, notReached, platformFull, wasNotSent } from '../platform/refusals.ts'

const THROTTLED = /throttl|TooManyRequests|RequestLimitExceeded|SlowDown|BandwidthLimit/i
const FULL = /LimitExceeded|capacity|ENILimitReached|EC2Throttled|reached the limit/i
const DENIED = /AccessDenied|UnauthorizedOperation|NotAuthorized|OptInRequired|KMSAccessDenied/i
/** Credentials that are renewed by themselves, or are missing on this host only. */
const CREDENTIALS =
  /ExpiredToken|RequestExpired|UnrecognizedClient|InvalidClientTokenId|CredentialsProvider|TokenRefresh|InvalidSignature/i

/** What launch() throws for it. */
export function awsStartFailure(platform: string, error: unknown): Error {
  const { name, status, words, retryAfterMs } = awsError(error)
  if (CREDENTIALS.test(name)) return notReached(platform, words)
  if (status === null)
    return wasNotSent(error) ? notReached(platform, words) : new UnclearStartError(words, { cause: error })
  if (status === 429 || THROTTLED.test(name) || FULL.test(name)) return platformFull(platform, words, retryAfterMs)
  if (status >= 500) return new UnclearStartError(words, { cause: error })
  // Before the words: they name roles and resources, which may be called anything.
  if (status === 401 || status === 403 || DENIED.test(name)) return launchDenied(platform, words)
  return FULL.test(words) ? platformFull(platform, words, retryAfterMs) : launchRefused(platform, words)
}

export interface AwsError {
  /** `AccessDeniedException`. */
  readonly name: string
  /** Null if no answer came. */
  readonly status: number | null
  readonly words: string
  readonly retryAfterMs: number | null
}

export function awsError(error: unknown): AwsError {
  const {
    name = 'Error',
    $metadata,
    $retryable,
    retryAfterSeconds,
  } = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly name?: string
    readonly $metadata?: { readonly httpStatusCode?: number }
    readonly $retryable?: { readonly throttling?: boolean }
    readonly retryAfterSeconds?: string | number
  }
  const message = messageOf(error)
  const seconds = Number(retryAfterSeconds)
  return {
    name: $retryable?.throttling === true && !THROTTLED.test(name) ? `Throttling:${name}` : name,
    status: $metadata?.httpStatusCode ?? null,
    words: `${name}: ${/[.!?]$/.test(message) ? message : `${message}.`}`,
    retryAfterMs: retryAfterSeconds !== undefined && Number.isFinite(seconds) ? seconds * 1_000 : null,
  }
}
