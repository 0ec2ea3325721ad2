// Who sent a request, as an address: that of the connection. Only if that is a proxy which the operator named does the header
// X-Forwarded-For count, and of it only what trusted proxies added. Anything else in it may be forged.

import { BlockList, isIP, isIPv6 } from 'node:net'
import { InvalidError } from '@reprise/core'

interface Resolved {
  readonly address: string
  /** How many proxies were believed. */
  readonly hops: number
  /** False if a proxy said something that is no address: it is not known who is behind it. */
  readonly isKnown: boolean
}

const LOOPBACK = /^127\.|^::1$/

export class RemoteAddresses {
  readonly #proxies = new BlockList()

  /** `trustedProxies` are addresses or ranges: 10.0.0.0/8, ::1. */
  constructor(trustedProxies: readonly string[]) {
    for (const range of trustedProxies) this.#trust(range)
  }

  addressOf(socketAddress: string | undefined, forwardedFor: string | string[] | undefined): string {
    return this.#resolve(socketAddress, forwardedFor).address
  }

  /**
   * Whether the caller is on this host. Behind a proxy on the same host everybody seems to be, so whoever comes with a header
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
    while (this.#isProxy(address) && said.length > 0) {
      const hop = plain(withoutPort(said.pop()?.trim() ?? ''))
      if (isIP(hop) === 0) return { address, hops, isKnown: false }
      address = hop
      hops++
    }
    return { address, hops, isKnown: true }
  }

  /** What limits count by: one customer has a whole /64 of IPv6 addresses. */
  static groupOf(address: string): string {
    if (!isIPv6(address)) return address
    const [head = '', tail = ''] = address.split('::', 2)
    const before = head === '' ? [] : head.split(':')
    const after = tail === '' ? [] : tail.split(':')
    const zeros = address.includes('::') ? Array<string>(Math.max(8 - before.length - after.length, 0)).fill('0') : []
    const groups = [...before, ...zeros, ...after].slice(0, 4)
    return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
  }

  #trust(range: string): void {
    const [address = '', bits, ...rest] = range.split('/')
    const family = isIP(address)
    const bitsMax = family === 4 ? 32 : 128
    const isWrong = bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > bitsMax)
    if (family === 0 || isWrong || rest.length > 0) {
      throw new InvalidError(`'${range.slice(0, 60)}' is no address of a proxy, nor a range such as 10.0.0.0/8.`)
    }
    this.#proxies.addSubnet(address, bits === undefined ? bitsMax : Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  }

  #isProxy(address: string): boolean {
    const family = isIP(address)
    return family !== 0 && this.#proxies.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Without the form that IPv4 takes on a socket of both kinds, and without a zone. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')

/** Some proxies write the port as well: 203.0.113.7:5555, [2001:db8::1]:443. */
const withoutPort = (hop: string): string =>
  hop.replace(/^\[([^\]]*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')
