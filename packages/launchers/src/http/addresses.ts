// Which addresses may be called. A host is resolved once, and every address it has must be a public one, unless the
// configuration allows the host or the network. The connection then goes to exactly these addresses: a second look-up, which
// could answer something else, does not happen.

import { lookup } from 'node:dns/promises'
import { isIP, isIPv6 } from 'node:net'
import { InvalidError } from '@reprise/core'
import ipaddr from 'ipaddr.js'
import { describedFailure } from '../described-failure.ts'

export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

export type Resolve = (host: string) => Promise<readonly { readonly address: string }[]>

const resolveByDns: Resolve = (host) => lookup(host, { all: true, verbatim: true })

type ParsedAddress = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [ParsedAddress, number]

/** All of IPv6 that somebody may have; what is special within it, the library knows from IANA's registry. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/**
 * Where clouds serve credentials and settings to their own machines. Azure's (168.63.129.16) is the one that looks public. A
 * host name in `allow` does not open these: only an entry with the address itself does.
 */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  '168.63.129.16',
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
])

/** Whether anybody on the internet has this address. Takes any spelling that a resolver gives, and no shorthand. */
export function isPublicAddress(address: string): boolean {
  const target = targetOf(address)
  if (target === null || target.range() !== 'unicast' || isMetadata(target)) return false
  return target.kind() === 'ipv4' || target.match(GLOBAL_UNICAST)
}

const isMetadata = (target: ParsedAddress): boolean => METADATA_ADDRESSES.has(target.toString())

/** NAT64 (64:ff9b::/96) addresses lead to the IPv4 address in them, as IPv4-mapped ones do: that one counts. */
function targetOf(address: string): ParsedAddress | null {
  const parsed = parseAddress(address)
  if (parsed?.kind() !== 'ipv6' || !parsed.match(NAT64)) return parsed
  return new ipaddr.IPv4(parsed.toByteArray().slice(-4))
}

/** Null for what is no address, and for shorthand such as 127.1. An IPv4-mapped address is the IPv4 address in it. */
export function parseAddress(address: string): ParsedAddress | null {
  const bare = address.replace(/%.*$/, '')
  if (isIP(bare) === 0) return null
  // The library takes ::1.2.3.4 for a mapped address, which it is not. The URL parser writes it without dots.
  return ipaddr.process(isIPv6(bare) ? new URL(`http://[${bare}]`).hostname.slice(1, -1) : bare)
}

/** Checks where a request may go. */
export class AddressPolicy {
  readonly #hosts = new Set<string>()
  readonly #suffixes: string[] = []
  readonly #networks: Network[] = []
  readonly #resolve: Resolve

  /** Entries: 'plugins.internal', 'localhost:8080', '*.svc.cluster.local', '10.1.2.3', '10.0.0.0/8', 'fd00::/8'. */
  constructor(allow: readonly string[], resolve: Resolve = resolveByDns) {
    this.#resolve = resolve
    for (const entry of allow) this.#add(entry)
  }

  #add(entry: string): void {
    const [network = '', bits] = entry.split('/')
    if (isIP(network) !== 0) {
      if (bits !== undefined && !ipaddr.isValidCIDR(entry)) throw badEntry(entry)
      this.#networks.push(
        bits === undefined ? [ipaddr.parse(network), isIPv6(network) ? 128 : 32] : ipaddr.parseCIDR(entry),
      )
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
    const isHostAllowed = this.#allowsHost(url)
    const offender = addresses.find(({ address }) => !this.#allowsAddress(address, isHostAllowed))
    if (offender === undefined) return addresses
    throw refused(
      `The host '${host}' has the address ${offender.address}, which is not a public one. Nothing was sent. If it is meant, add the address to 'allow'.`,
    )
  }

  #allowsHost({ host, hostname }: URL): boolean {
    return (
      this.#hosts.has(host) || this.#hosts.has(hostname) || this.#suffixes.some((suffix) => hostname.endsWith(suffix))
    )
  }

  #allowsAddress(address: string, isHostAllowed: boolean): boolean {
    if (isPublicAddress(address)) return true
    const target = targetOf(address)
    if (target === null) return isHostAllowed
    const minBits = isMetadata(target) ? target.toByteArray().length * 8 : 0
    const isNamed = this.#networks.some(
      ([network, bits]) => bits >= minBits && target.kind() === network.kind() && target.match(network, bits),
    )
    return isNamed || (isHostAllowed && !isMetadata(target))
  }
}

function badEntry(entry: string): InvalidError {
  return new InvalidError(
    `The entry '${entry.slice(0, 100)}' of 'allow' is not understood. Write a host, a host and port, '*.suffix', an address or a network such as '10.0.0.0/8'.`,
  )
}

const refused = (message: string): Error => describedFailure({ code: 'ADDRESS_REFUSED', says: 'permanent', message })
