// Lease credentials: what an outsider is given in place of a lease's token. A store makes tokens that are unique and cheap, and
// anybody can guess them; a credential is the token with a MAC over it, by a secret that only the store's own processes
// know. It says that the token is this attempt's and was handed out by us. Whether the lease still holds is the store's to say.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  type Collection,
  type CollectionDefinition,
  type Document,
  type Engine,
  isRepriseError,
  type LeaseRef,
  type LeaseToken,
  type TaskId,
} from '@reprise/core'

export interface LeaseCredentials {
  /** Always the same for the same lease, whichever process is asked: launchers know a launch by it after a crash. */
  readonly issue: (ref: LeaseRef) => string
  /** Null unless it was issued for this very attempt. */
  readonly read: (given: GivenCredential) => LeaseRef | null
}

export interface GivenCredential {
  readonly taskId: TaskId
  readonly attempt: number
  readonly credential: string
}

interface Secret extends Document {
  /** 256 bits in base64url. */
  readonly secret: string
}

const definition: CollectionDefinition<Secret> = { name: 'secrets', indexes: {} }
const SECRET_ID = 'lease-credentials'
const SECRET_BYTES = 32
/** 128 bits, which nobody guesses, in 22 characters. */
const MAC_BYTES = 16

const opened = new WeakMap<object, Promise<LeaseCredentials>>()

/** The store is asked once per process, and for each engine; after an error, again. */
export function openLeaseCredentials(engine: Pick<Engine, 'collection'>): Promise<LeaseCredentials> {
  const known = opened.get(engine)
  if (known !== undefined) return known
  const opening = secretOf(engine.collection(definition)).then(credentialsBy)
  opened.set(engine, opening)
  opening.catch(() => opened.delete(engine))
  return opening
}

/** Made by the process that comes first. */
async function secretOf(secrets: Collection<Secret>): Promise<Buffer> {
  const stored = (await secrets.get(SECRET_ID)) ?? (await inserted(secrets)) ?? (await secrets.get(SECRET_ID))
  if (stored === null) throw new Error('The secret of the lease credentials was taken away while it was read.')
  return Buffer.from(stored.document.secret, 'base64url')
}

/** Null if somebody else was faster. */
async function inserted(secrets: Collection<Secret>) {
  try {
    return await secrets.insert({ id: SECRET_ID, secret: randomBytes(SECRET_BYTES).toString('base64url') })
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return null
    throw error
  }
}

function credentialsBy(secret: Buffer): LeaseCredentials {
  const macOf = ({ taskId, attempt, token }: LeaseRef): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify([taskId, attempt, token]))
      .digest()
      .subarray(0, MAC_BYTES)
  return {
    issue: (ref) => `${ref.token}.${macOf(ref).toString('base64url')}`,
    read({ taskId, attempt, credential }) {
      const dot = credential.lastIndexOf('.')
      // Compared as text: base64url has more than one spelling of the same bytes.
      const given = Buffer.from(credential.slice(dot + 1))
      const ref = { taskId, attempt, token: credential.slice(0, Math.max(dot, 0)) as LeaseToken }
      const right = Buffer.from(macOf(ref).toString('base64url'))
      return given.length === right.length && timingSafeEqual(given, right) ? ref : null
    },
  }
}
