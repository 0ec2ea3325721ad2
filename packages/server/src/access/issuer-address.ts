// Where we may ask for keys and send people to sign in: by https, or on this host. Over plain http anybody on the way could
// put keys of their own in between.

import { InvalidError } from '@reprise/core'

const LOOPBACK = /^(?:localhost|(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

export const isLoopbackName = (hostname: string): boolean => LOOPBACK.test(hostname)

/** Of an address to listen on, which has no brackets. */
export const isLoopbackAddress = (host: string): boolean => LOOPBACK.test(host.includes(':') ? `[${host}]` : host)

/** Returns the address as it was given. */
export function checkedIssuerAddress(what: string, value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackName(url.hostname))
  if (typeof value !== 'string' || !isSafe || url?.username !== '' || url.password !== '') {
    throw new InvalidError(
      `The ${what} must be an address with https (http only on this host) and without a user name, such as https://accounts.example.com.`,
    )
  }
  return value
}
