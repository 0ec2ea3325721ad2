// Which addresses may be called. A host is resolved once, and every address it has must be a public one, unless the
// configuration allows the host or the network. The connection then goes to exactly these addresses: a second look-up, which
// could answer something else, does not happen.

import { lookup } from 'node:dns/promises'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { InvalidError } from '@reprise/core'
import { describedFailure } from '../described-failure.ts'

export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

export type Resolve = (host: string) => Promise<readonly { readonly address: string }[]>

const resolveByDns: Resolve = (host) => lookup(host, { all: true, verbatim: true })

// IANA's special-purpose registry: none of these is somewhere else on the internet.
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]

// Within 2000::/3; everything outside of it is refused anyway. 2001::/23 has Teredo and others, 2002::/16 is 6to4: both carry
// IPv4 addresses inside.
const SPECIAL_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [network, bits] of SPECIAL_IPV4) special.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of SPECIAL_IPV6) special.addSubnet(network, bits, 'ipv6')

const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/** Whether anybody on the internet has this address. Takes any spelling of it. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0) return false
  if (family === 4) return !special.check(address, 'ipv4')
  const inner = innerIPv4(address)
  if (inner !== null) return !special.check(inner, 'ipv4')
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** The IPv4 address that an IPv4-mapped (::ffff:0:0/96) or NAT64 (64:ff9b::/96) address leads to; null for others. */
function innerIPv4(address: string): string | null {
  const groups = groupsOf(address)
  const prefix = groups.slice(0, 6).join(':')
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return null
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff])
    .join('.')
}

/** The eight groups of an IPv6 address, whatever way it is written. */
function groupsOf(address: string): string[] {
  const bare = address.replace(/%.*$/, '')
  // The URL parser knows every spelling, and writes the shortest one.
  const shortest = new URL(`http://[${bare}]`).hostname.slice(1, -1)
  const [head = '', tail] = shortest.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
}

/** Checks where a request may go. */
export class AddressPolicy {
  readonly #hosts = new Set<string>()
  readonly #suffixes: string[] = []
  readonly #networks = new BlockList()
  readonly #resolve: Resolve

  /** Entries: 'plugins.internal', 'localhost:8080', '*.svc.cluster.local', '10.1.2.3', '10.0.0.0/8', 'fd00::/8'. */
  constructor(allow: readonly string[], resolve: Resolve = resolveByDns) {
    this.#resolve = resolve
    for (const entry of allow) this.#add(entry)
  }

  #add(entry: string): void {
    const [network = '', bits] = entry.split('/')
    const family = isIP(network)
    if (family !== 0) {
      const size = bits === undefined ? (family === 4 ? 32 : 128) : Number(bits)
      if (!/^\d{1,3}$/.test(bits ?? '0') || size > (family === 4 ? 32 : 128)) throw badEntry(entry)
      this.#networks.addSubnet(network, size, family === 4 ? 'ipv4' : 'ipv6')
      return
    }
    const host = entry.startsWith('*.') ? entry.slice(2) : entry
    if (!URL.canParse(`http://${host}`) || new URL(`http://${host}`).host !== host.toLowerCase()) throw badEntry(entry)
    if (entry.startsWith('*.')) this.#suffixes.push(`.${host.toLowerCase()}`)
    else this.#hosts.add(host.toLowerCase())
  }

  /** The addresses to connect to. Throws if the host has none, or one that may not be called. */
  async addressesOf(url: URL): Promise<Address[]> {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw refused(`Only http and https are called, not '${url.protocol}'.`)
    }
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const found = isIP(host) === 0 ? await this.#resolve(host) : [{ address: host }]
    const addresses = found.map(({ address }) => ({ address, family: isIPv6(address) ? (6 as const) : (4 as const) }))
    if (addresses.length === 0) throw refused(`The host '${host}' has no address.`)
    if (this.#allowsHost(url)) return addresses
    const offender = addresses.find(({ address }) => !this.#allowsAddress(address))
    if (offender === undefined) return addresses
    throw refused(
      `The host '${host}' has the address ${offender.address}, which is not a public one. Nothing was sent. If it is meant, add it to 'allow'.`,
    )
  }

  #allowsHost({ host, hostname }: URL): boolean {
    return (
      this.#hosts.has(host) || this.#hosts.has(hostname) || this.#suffixes.some((suffix) => hostname.endsWith(suffix))
    )
  }

  #allowsAddress(address: string): boolean {
    if (isPublicAddress(address)) return true
    const inner = isIPv6(address) ? innerIPv4(address) : null
    if (inner !== null) return this.#networks.check(inner, 'ipv4')
    return this.#networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  }
}

function badEntry(entry: string): InvalidError {
  return new InvalidError(
    `The entry '${entry.slice(0, 100)}' of 'allow' is not understood. Write a host, a host and port, '*.suffix', an address or a network such as '10.0.0.0/8'.`,
  )
}

const refused = (message: string): Error => describedFailure({ code: 'ADDRESS_REFUSED', says: 'permanent', message })
