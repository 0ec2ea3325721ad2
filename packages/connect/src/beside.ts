// The addresses of other stores beside one: on the same Redis server, under other prefixes. For those who look for a deployment
// that fell into two halves. A file has no stores beside it.

import { parseAddress } from './address.ts'
import { installedModules, prefixOf } from './open.ts'

/** A few, found by a short look. */
export async function addressesBeside(address: string): Promise<readonly string[]> {
  const parsed = parseAddress(address)
  if (parsed.scheme !== 'redis') return []
  const { otherStores } = await installedModules.redis()
  const prefix = prefixOf(parsed)
  const others = await otherStores({ url: parsed.urls, ...(prefix === null ? {} : { prefix }) })
  const [server = ''] = address.split('?', 1)
  return others.map((other) => `${server}?prefix=${encodeURIComponent(other)}`)
}
