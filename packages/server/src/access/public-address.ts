// The address under which people reach this server: it decides how cookies are named and which origins are ours. It is
// configured, or where the server listens; never taken from a request, whose Host header anybody can choose.

import { InvalidError } from '@reprise/core'
import { isLoopbackName } from './issuer-address.ts'

export interface PublicAddress {
  /** Such as `https://reprise.example.com`. */
  readonly origin: string
  readonly isSecure: boolean
  /** All origins that mean this server: on loopback it has several names. */
  readonly origins: ReadonlySet<string>
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'] as const

/** By https, or on this host. */
export function isSessionSafe(publicUrl: string): boolean {
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : null
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackName(url.hostname))
}

/** Throws `InvalidError` for plain http to another host: a session would travel in clear text. */
export function readPublicAddress(publicUrl: string): PublicAddress {
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new InvalidError('The public URL must be an address such as https://reprise.example.com.')
  }
  const { origin, port, protocol } = url
  if (protocol === 'https:') return { origin, isSecure: true, origins: new Set([origin]) }
  if (!isSessionSafe(publicUrl)) {
    throw new InvalidError(
      `People can not sign in at ${origin}: over plain http everybody on the way could take over their session. Put a proxy with https in front of the server and set its address as the public URL.`,
    )
  }
  const others = LOOPBACK_NAMES.map((name) => `http://${name}${port === '' ? '' : `:${port}`}`)
  return { origin, isSecure: false, origins: new Set([origin, ...others]) }
}
