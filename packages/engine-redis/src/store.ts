// Opening a store: is this a server we can trust with tasks, and is what stands under the prefix ours and of a layout we
// know? Every refusal says how to fix it.

import { type Durability, InvalidError, nearest, SchemaTooNewError, StoreFailedError } from '@reprise/core'
import { StoreMissingError } from '@reprise/core/engine'
import type { Link, Reply } from './link/link.ts'
import { SLOTS, slotOf } from './link/slot.ts'

/** The layout this version writes. docs/redis-layout.md describes it. */
const LAYOUT = 4
const VERSION_MIN = 7
export const PARTITIONS_MAX = 1_024

export type WantedDurability = 'durable' | 'fast'

interface ServerLook extends Durability {
  readonly name: string
  readonly version: string
  /** Why the server may delete tasks; null if it does not. */
  readonly evicts: string | null
  readonly hasAof: boolean
}

/** Looks at the server. Throws if it is too old, may evict tasks, or does not persist what must be durable. */
export async function checkServer(link: Link, key: string, wanted: WantedDurability): Promise<Durability> {
  const { name, version, evicts, hasAof, durability, risk } = await lookAt(link, key)
  if (Number.parseInt(version, 10) < VERSION_MIN) {
    throw new StoreFailedError(
      `This is ${name} ${version}; Reprise needs version ${VERSION_MIN} or later. Upgrade the server.`,
    )
  }
  if (evicts !== null) throw new StoreFailedError(evicts)
  if (wanted === 'durable' && !hasAof) {
    throw new StoreFailedError(
      `The engine was opened with durability 'durable', and this server keeps no append-only file. ` +
        `Run 'redis-cli CONFIG SET appendonly yes' and put 'appendonly yes' into redis.conf, or open it with durability 'fast'.`,
    )
  }
  return { durability, ...(risk === undefined ? {} : { risk }) }
}

/** Looks at servers that are in use: what may delete or lose tasks is a risk there, and no reason to stop. */
export async function reviewServers(link: Link, keys: readonly string[]): Promise<Durability> {
  const looks = await Promise.all(keys.map((key) => lookAt(link, key)))
  const worst = looks.find(({ evicts }) => evicts !== null) ?? looks.find(({ risk }) => risk !== undefined) ?? looks[0]
  if (worst === undefined) throw new StoreFailedError('There is no server to look at.')
  const risk = worst.evicts ?? worst.risk
  return { durability: worst.durability, ...(risk === undefined ? {} : { risk }) }
}

async function lookAt(link: Link, key: string): Promise<ServerLook> {
  const info = parseInfo(String(await link.command(key, ['INFO'])))
  const name = info.get('valkey_version') === undefined ? 'Redis' : 'Valkey'
  const version = info.get('valkey_version') ?? info.get('redis_version') ?? '0'
  const policy = info.get('maxmemory_policy') ?? 'noeviction'
  const hasAof = info.get('aof_enabled') === '1'
  const kept = await persistence(link, key, hasAof)
  const advice = `Switch the append-only file on: 'redis-cli CONFIG SET appendonly yes', and 'appendonly yes' in redis.conf.`
  return {
    name,
    version,
    evicts: policy === 'noeviction' ? null : evictionText(policy),
    hasAof,
    durability: `${name} ${version}, ${kept}`,
    ...(hasAof ? {} : { risk: `${name} keeps accepted tasks ${kept}. ${advice}` }),
  }
}

const evictionText = (policy: string): string =>
  `The server's maxmemory-policy is '${policy}': it would delete tasks when memory gets short. ` +
  `Set it to noeviction: run 'redis-cli CONFIG SET maxmemory-policy noeviction' and put 'maxmemory-policy noeviction' into redis.conf.`

async function persistence(link: Link, key: string, hasAof: boolean): Promise<string> {
  if (hasAof) {
    switch (await setting(link, key, 'appendfsync')) {
      case 'always':
        return 'append-only file, synced at every write: survives a loss of power'
      case 'no':
        return 'append-only file, synced when the system likes: survives a crash of the server process'
      case 'everysec':
        return 'append-only file, synced every second: a crash of the server or a loss of power may cost the last second, two if the disk is slow'
      default:
        return 'append-only file: survives a crash of the server process'
    }
  }
  switch (await setting(link, key, 'save')) {
    case '':
      return 'in memory only: a restart of the server loses everything'
    case null:
      return 'in memory, and perhaps in snapshots (CONFIG is not allowed here, so nobody can tell): a restart of the server may lose everything'
    default:
      return 'in snapshots only: a crash of the server loses what came after the last one'
  }
}

/** One setting of the server; null where CONFIG is not allowed, as on some managed servers. */
async function setting(link: Link, key: string, name: string): Promise<string | null> {
  try {
    const reply = await link.command(key, ['CONFIG', 'GET', name])
    return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : null
  } catch {
    return null
  }
}

function parseInfo(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\r\n').flatMap((line) => {
      const colon = line.indexOf(':')
      return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const]
    }),
  )
}

const PREFIX = /^[\w.:{}-]{1,100}$/

/** A prefix must leave room for what stands beside the tasks, and on a cluster keep one partition together. */
function checkPrefix(prefix: string): void {
  if (PREFIX.test(prefix)) return
  throw new InvalidError(
    `A key prefix has 1 to 100 letters, digits or the characters . _ - : { }, unlike '${prefix.slice(0, 40)}'.`,
  )
}

function checkSlots(prefix: string, partitions: number, isCluster: boolean): void {
  // Only the first pair of braces counts, and only with something in it.
  const hasTag = /^[^{]*\{[^}]+\}/.test(prefix)
  if (partitions > 1 && /[{}]/.test(prefix)) {
    throw new InvalidError(
      'The prefix of a store with several partitions must not contain braces: each partition adds its own.',
    )
  }
  if (isCluster && partitions === 1 && !hasTag) {
    throw new InvalidError(
      `On a cluster, all keys of a partition must live in one slot: write the prefix as '{${prefix}}', or open the store with several partitions.`,
    )
  }
}

/** The key prefix of each partition. One partition has the store's own. Must never change: stores are laid out by it. */
export function partitionPrefixes(prefix: string, partitions: number): readonly string[] {
  if (partitions === 1) return [prefix]
  return Array.from({ length: partitions }, (_, index) => `${prefix}:{${tagOf(index, partitions)}}`)
}

/**
 * The slots are cut into as many equal ranges as there are partitions, and the slot of each tag lies in its own: servers
 * that share the slots evenly share the partitions evenly.
 */
function tagOf(index: number, partitions: number): string {
  for (let tries = 0; ; tries++) {
    const tag = tries === 0 ? String(index) : `${index}.${tries}`
    if (Math.floor((slotOf(tag) * partitions) / SLOTS) === index) return tag
  }
}

const SCANS_MAX = 20
const SCANNED_AT_ONCE = 1_000

/** The prefixes of the stores on the same server that a short look finds. Of a cluster, one node is looked at. */
async function storesHere(link: Link): Promise<readonly string[]> {
  const found: string[] = []
  let cursor = '0'
  for (let scans = 0; scans < SCANS_MAX; scans++) {
    const reply = await link.command(null, ['SCAN', cursor, 'MATCH', '*/store', 'COUNT', String(SCANNED_AT_ONCE)])
    const [next, keys] = Array.isArray(reply) ? (reply as readonly Reply[]) : []
    if (Array.isArray(keys)) found.push(...keys.map((key) => String(key).slice(0, -'/store'.length)))
    cursor = String(next ?? '0')
    if (cursor === '0') break
  }
  return [...new Set(found)]
}

/** The one with the nearest name, or the only one. */
async function storeNearby(link: Link, prefix: string): Promise<string | null> {
  const found = await storesHere(link)
  return nearest(prefix, found) ?? (found.length === 1 ? (found[0] ?? null) : null)
}

/** Other stores on the same server than that of the prefix; without those of another layout, which opening would change. */
export async function storesBeside(link: Link, prefix: string, limit: number): Promise<readonly string[]> {
  const others: string[] = []
  for (const other of await storesHere(link)) {
    if (other === prefix || others.length >= limit) continue
    const key = storeKey(other)
    if (Number(await link.command(key, ['HGET', key, 'layout'])) === LAYOUT) others.push(other)
  }
  return others
}

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 1

export interface StoreWish {
  /** Null for what the store has. */
  readonly partitions: number | null
  /** Whether a store is made where there is none. */
  readonly creates: boolean
}

export interface OpenedStore {
  readonly partitions: number
  /** Whether an earlier version made it: what stands otherwise there has to be moved, then `raiseLayout` says so. */
  readonly isOlder: boolean
}

const storeKey = (prefix: string): string => `${prefix}/store`

/** Creates the store if there is none yet and that is wished; otherwise it must be of a layout and partition count we can open. */
export async function openStore(link: Link, prefix: string, { partitions, creates }: StoreWish): Promise<OpenedStore> {
  const key = storeKey(prefix)
  const look = (): Promise<Reply> => link.command(key, ['HMGET', key, 'layout', 'partitions'])
  checkPrefix(prefix)
  let reply = await look()
  // Not written again to a store that is there: a worker may join one that is full.
  if (!Array.isArray(reply) || reply.includes(null)) {
    if (!creates) throw new StoreMissingError(`the prefix '${prefix}' in Redis`, await storeNearby(link, prefix))
    checkSlots(prefix, partitions ?? 1, link.isCluster)
    await link.command(key, ['HSETNX', key, 'partitions', String(partitions ?? 1)])
    await link.command(key, ['HSETNX', key, 'layout', String(LAYOUT)])
    reply = await look()
  }
  const [layout, count] = Array.isArray(reply) ? reply.map(Number) : []
  if (!isCount(layout) || !isCount(count)) {
    throw new StoreFailedError(`The key '${key}' does not describe a store of Reprise. Choose another prefix.`)
  }
  if (layout > LAYOUT) throw new SchemaTooNewError(layout, LAYOUT)
  if (partitions !== null && partitions !== count) {
    throw new InvalidError(
      `The store '${prefix}' has ${count} ${count === 1 ? 'partition' : 'partitions'}, not ${partitions}. The number is fixed when a store is created: open it with ${count}, or choose another prefix.`,
    )
  }
  checkSlots(prefix, count, link.isCluster)
  return { partitions: count, isOlder: layout < LAYOUT }
}

/** Layout 2 keeps workers in another form: those of layout 1 count as unknown, and register again. Layout 4 keeps keys by action. */
export async function raiseLayout(link: Link, prefix: string): Promise<void> {
  const key = storeKey(prefix)
  await link.command(key, ['HSET', key, 'layout', String(LAYOUT)])
}
