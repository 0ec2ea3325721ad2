// Lease credentials: what an outsider is given in place of a lease's token. A store makes tokens that are unique and cheap, and
// anybody can guess them; a credential is the token, the id of a key and a MAC by that key, which only the store's own
// processes know. It says that the token is this attempt's and was handed out by us. Whether the lease still holds is the
// store's to say. A credential of a store that is older than key rings has no key id.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock, Engine, LeaseRef, LeaseToken, TaskId } from '@reprise/core'
import { type Key, type KeyRing, keyAt, LEGACY_KEY_ID, openKeyRing } from './key-ring.ts'

export interface LeaseCredentials {
  /**
   * Always the same for the same lease, whichever process is asked, and also when the key has changed since the lease
   * began: launchers know a launch by it after a crash.
   */
  readonly issue: (lease: StartedLease) => string
  /** Null unless it was issued for this very attempt, with a key that still counts. */
  readonly read: (given: GivenCredential) => LeaseRef | null
}

export interface StartedLease extends LeaseRef {
  /** By the store's time: it says which key signs. */
  readonly startedAt: number
}

export interface GivenCredential {
  readonly taskId: TaskId
  readonly attempt: number
  readonly credential: string
}

/** 128 bits, which nobody guesses, in 22 characters. */
const MAC_BYTES = 16

const credentialsOf = new WeakMap<KeyRing, LeaseCredentials>()

/** The store is asked for its keys once in a while; after an error, again. */
export async function openLeaseCredentials(
  engine: Pick<Engine, 'collection' | 'now'>,
  clock?: Clock,
): Promise<LeaseCredentials> {
  const ring = await openKeyRing(engine, 'lease-credentials', clock)
  const known = credentialsOf.get(ring)
  if (known !== undefined) return known
  const credentials = credentialsBy(ring)
  credentialsOf.set(ring, credentials)
  return credentials
}

function credentialsBy(ring: KeyRing): LeaseCredentials {
  const legacy = ring.find(({ id }) => id === LEGACY_KEY_ID)
  return {
    issue(lease) {
      const key = keyAt(ring, lease.startedAt)
      const mac = macOf(key, lease)
      return key === legacy ? `${lease.token}.${mac}` : `${lease.token}.${key.id}.${mac}`
    },
    read({ taskId, attempt, credential }) {
      const [rest, mac] = cut(credential)
      const [token, keyId] = cut(rest)
      const key = ring.find(({ id }) => id === keyId && id !== LEGACY_KEY_ID)
      const ref = { taskId, attempt, token: token as LeaseToken }
      if (key !== undefined && isSame(mac, macOf(key, ref))) return ref
      const old = { ...ref, token: rest as LeaseToken }
      return legacy !== undefined && isSame(mac, macOf(legacy, old)) ? old : null
    },
  }
}

/** At the last dot: a token may have dots of its own. */
function cut(text: string): readonly [before: string, after: string] {
  const dot = text.lastIndexOf('.')
  return [text.slice(0, Math.max(dot, 0)), text.slice(dot + 1)]
}

const macOf = ({ secret }: Key, { taskId, attempt, token }: LeaseRef): string =>
  createHmac('sha256', Buffer.from(secret, 'base64url'))
    .update(JSON.stringify([taskId, attempt, token]))
    .digest()
    .subarray(0, MAC_BYTES)
    .toString('base64url')

/** Compared as text: base64url has more than one spelling of the same bytes. */
function isSame(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
