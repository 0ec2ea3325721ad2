// An address that somebody wants events or alerts to be sent to, checked when it is set: that it is one, holds no password, and leads
// to where requests may go. The connection checks again, each time.

import { type Clock, InvalidError, sleep } from '@reprise/core'
import type { AddressPolicy } from '@reprise/launchers'

const URL_LENGTH_MAX = 2_000
const RESOLVE_MS_MAX = 5_000

interface UrlCheck {
  readonly policy: AddressPolicy
  readonly clock: Clock
  /** Whether the caller may know which hosts there are inside. */
  readonly isTold: boolean
}

export async function checkedUrl(text: string, { policy, clock, isTold }: UrlCheck): Promise<string> {
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) {
    throw new InvalidError(`The url of a webhook is a web address of at most ${URL_LENGTH_MAX} characters.`)
  }
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new InvalidError('The url of a webhook has no password and no fragment. Receivers check the signature.')
  }
  const done = new AbortController()
  try {
    await Promise.race([
      policy.addressesOf(url),
      sleep(clock, RESOLVE_MS_MAX, done.signal).then(() => {
        throw new InvalidError(`The host '${url.hostname}' could not be looked up in time.`)
      }),
    ])
  } catch (error) {
    if (!isTold) throw notPublic(url, error)
    const words = error instanceof Error ? error.message : String(error)
    throw new InvalidError(
      `Events can't be sent to ${url.origin}. ${words} What may be called inside is said by webhooks.allow in the configuration (REPRISE_WEBHOOK_ALLOW).`,
      { cause: error },
    )
  } finally {
    done.abort()
  }
  return url.href
}

/** The same for a host inside, one that does not exist, and one that is slow: which there are inside is nobody's business. */
const notPublic = ({ origin }: URL, cause: unknown): InvalidError =>
  new InvalidError(
    `Events can't be sent to ${origin}: no public address was found for it. Only an operator of the whole store can allow others.`,
    { cause },
  )
