// Keys that all processes of a store share, kept in the store itself: a ring for each use. The newest key that is in force
// signs; the ones before it go on to verify for a while, so that a key is changed without a gap. A new key comes into force
// a minute after it was made: by then every process has read the ring again. Which key signs is a matter of the store's
// time alone, so that all processes agree on it, also about a moment that is past.

import { randomBytes } from 'node:crypto'
import {
  type Clock,
  type Collection,
  ConflictError,
  type Document,
  type Engine,
  isRepriseError,
  stepDocument,
  systemClock,
} from '@reprise/core'

/** `lease-credentials` signs what workers outside hold; `seals` marks the API tokens, sessions and links that we made. */
export const KEY_RINGS = ['lease-credentials', 'seals'] as const
export type KeyRingName = (typeof KEY_RINGS)[number]

export interface Key {
  /** `0` is the key of a store that is older than rings. */
  readonly id: string
  /** 256 bits in base64url. */
  readonly secret: string
  /** It signs from then on, by the store's time. */
  readonly from: number
  /** It verifies until then; null while no newer key is made. */
  readonly until: number | null
}

/** The oldest first; never empty. */
export type KeyRing = readonly Key[]

/** A key as people may see it. */
export type KeyFacts = Omit<Key, 'secret'>

type Store = Pick<Engine, 'collection' | 'now'>

interface RingDocument extends Document {
  readonly keys?: KeyRing
  /** In stores that are older than rings. */
  readonly secret?: string
}

export const LEGACY_KEY_ID = '0'
const SECRET_BYTES = 32
const READ_AGAIN_MS = 15_000
const COMING_INTO_FORCE_MS = 60_000
/** More than this at once, and somebody rotates by mistake. */
const KEYS_MAX = 20

/** How long a key verifies after the next one is in force, if nothing else is asked for. */
export const KEEP_KEY_MS = 7 * 86_400_000

interface Opened {
  readonly ring: Promise<KeyRing>
  /** On the monotonic clock. */
  readonly readAt: number
}

const openedRings = new WeakMap<object, Map<KeyRingName, Opened>>()

const collectionOf = (engine: Store): Collection<RingDocument> => engine.collection({ name: 'secrets', indexes: {} })

/** The store is asked every few seconds at most. While it is away, what was read before counts. */
export function openKeyRing(engine: Store, name: KeyRingName, clock: Clock = systemClock): Promise<KeyRing> {
  const rings = openedRings.get(engine) ?? new Map<KeyRingName, Opened>()
  openedRings.set(engine, rings)
  const known = rings.get(name)
  const readAt = clock.monotonic()
  if (known !== undefined && readAt - known.readAt < READ_AGAIN_MS) return known.ring
  const reading = readRing(engine, name)
  const ring = known === undefined ? reading : reading.catch(() => known.ring)
  const opened = { ring, readAt }
  rings.set(name, opened)
  ring.catch(() => rings.get(name) === opened && rings.delete(name))
  return ring
}

/** Made by the process that comes first. */
async function readRing(engine: Store, name: KeyRingName): Promise<KeyRing> {
  const collection = collectionOf(engine)
  const stored = (await collection.get(name)) ?? (await inserted(collection, name)) ?? (await collection.get(name))
  if (stored === null) throw new Error(`The keys '${name}' were taken away while they were read.`)
  return stillGood(keysOf(stored.document), await engine.now())
}

/** Null if somebody else was faster. */
async function inserted(collection: Collection<RingDocument>, name: KeyRingName) {
  try {
    return await collection.insert({ id: name, keys: [newKey('1', 0)] })
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return null
    throw error
  }
}

const newKey = (id: string, from: number): Key => ({
  id,
  secret: randomBytes(SECRET_BYTES).toString('base64url'),
  from,
  until: null,
})

function keysOf({ keys, secret }: RingDocument): KeyRing {
  if (keys !== undefined) return keys
  return secret === undefined ? [] : [{ id: LEGACY_KEY_ID, secret, from: 0, until: null }]
}

const stillGood = (keys: KeyRing, now: number): KeyRing => keys.filter(({ until }) => until === null || until > now)

/** The key that signs what began at that time. */
export function keyAt(ring: KeyRing, time: number): Key {
  const key = ring.findLast(({ from }) => from <= time) ?? ring[0]
  if (key === undefined) throw new Error('There is no key left in the ring.')
  return key
}

/**
 * Makes a new key. The ones before it verify for `keepMs` after it has come into force. With 0 it is in force at once, and
 * they end at once: for a key that was stolen.
 */
export async function rotateKeys(
  engine: Store,
  name: KeyRingName,
  { keepMs = KEEP_KEY_MS, clock = systemClock }: { readonly keepMs?: number; readonly clock?: Clock } = {},
): Promise<readonly KeyFacts[]> {
  await openKeyRing(engine, name, clock)
  const now = await engine.now()
  const from = now + Math.min(COMING_INTO_FORCE_MS, keepMs)
  const until = from + keepMs
  const rotated = await stepDocument(collectionOf(engine), name, (document) => {
    const keys = stillGood(keysOf(document), now)
    if (keys.length >= KEYS_MAX) {
      throw new ConflictError(
        `There are ${KEYS_MAX} keys already. Wait until the oldest have ended, then rotate again.`,
      )
    }
    const ending = keys.map((key) => ({ ...key, until: Math.min(key.until ?? until, until) }))
    return { id: name, keys: [...ending, newKey(String(Number(keys.at(-1)?.id ?? 0) + 1), from)] }
  })
  openedRings.get(engine)?.delete(name)
  return factsOf(keysOf(rotated ?? { id: name }))
}

export async function keyFacts(engine: Store, name: KeyRingName, clock?: Clock): Promise<readonly KeyFacts[]> {
  return factsOf(await openKeyRing(engine, name, clock))
}

const factsOf = (ring: KeyRing): readonly KeyFacts[] => ring.map(({ id, from, until }) => ({ id, from, until }))
