// Who sent a request, as an address: that of the connection. Only if that is a proxy which the operator named does the header
// X-Forwarded-For count, and of it only what trusted proxies added. Anything else in it may be forged.

import { isIP, isIPv4 } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import { InvalidError } from '@reprise/core'
import { parseAddress } from '@reprise/launchers'
import ipaddr from 'ipaddr.js'

interface Resolved {
  readonly address: string
  /** How many proxies were believed. */
  readonly hops: number
  /** False if a proxy said something that is no address: it is not known who is behind it. */
  readonly isKnown: boolean
}

const LOOPBACK = /^127\.|^::1$/

export class RemoteAddresses {
  readonly #isTrusted: (address: string, hop: number) => boolean

  /** `trustedProxies` are addresses or ranges: 10.0.0.0/8, ::1. */
  constructor(trustedProxies: readonly string[]) {
    const wrong = trustedProxies.find((range) => !isRange(range))
    if (wrong !== undefined) {
      throw new InvalidError(`'${wrong.slice(0, 60)}' is no address of a proxy, nor a range such as 10.0.0.0/8.`)
    }
    this.#isTrusted = proxyAddr.compile([...trustedProxies])
  }

  /** Whether it is a proxy that the operator named. */
  isTrusted(socketAddress: string | undefined): boolean {
    const address = plain(socketAddress ?? '')
    return isIP(address) !== 0 && this.#isTrusted(address, 0)
  }

  addressOf(socketAddress: string | undefined, forwardedFor: string | string[] | undefined): string {
    return this.#resolve(socketAddress, forwardedFor).address
  }

  /**
   * Whether the caller is on this host. Behind a proxy on the same host everybody seems to be, so a caller with a header
   * that proxies set has to be so by the word of one that is trusted.
   */
  isLoopback(
    socketAddress: string | undefined,
    { 'x-forwarded-for': forwardedFor, forwarded }: Readonly<Record<string, string | string[] | undefined>>,
  ): boolean {
    const { address, hops, isKnown } = this.#resolve(socketAddress, forwardedFor)
    const isByProxy = forwardedFor !== undefined || forwarded !== undefined
    return LOOPBACK.test(address) && (!isByProxy || (isKnown && hops > 0 && forwarded === undefined))
  }

  #resolve(socketAddress: string | undefined, forwardedFor: string | string[] | undefined): Resolved {
    let address = plain(socketAddress ?? '')
    let hops = 0
    const said = (Array.isArray(forwardedFor) ? forwardedFor.join(',') : (forwardedFor ?? '')).split(',')
    // From the right: each proxy adds at the end who it heard from.
    while (isIP(address) !== 0 && this.#isTrusted(address, hops) && said.length > 0) {
      const hop = plain(withoutPort(said.pop()?.trim() ?? ''))
      if (isIP(hop) === 0) return { address, hops, isKnown: false }
      address = hop
      hops++
    }
    return { address, hops, isKnown: true }
  }

  /** What limits count by: one customer has a whole /64 of IPv6 addresses. */
  static groupOf(address: string): string {
    if (isIPv4(address)) return address
    const parsed = parseAddress(address)
    if (!(parsed instanceof ipaddr.IPv6)) return address
    return `${parsed.parts
      .slice(0, 4)
      .map((group) => group.toString(16))
      .join(':')}::/64`
  }
}

/** Fastify's own parser also takes names of ranges, netmasks and short forms. */
function isRange(given: string): boolean {
  const [address = '', bits] = given.split('/')
  return isIP(address) !== 0 && (bits === undefined || ipaddr.isValidCIDR(given))
}

/** Without the form that IPv4 takes on a socket of both kinds, and without a zone. */
function plain(address: string): string {
  // Asked for with every request, and IPv4 has one form only.
  if (isIPv4(address)) return address
  return parseAddress(address)?.toString() ?? address
}

/** Some proxies write the port as well: 203.0.113.7:5555, [2001:db8::1]:443. */
const withoutPort = (hop: string): string =>
  hop.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
