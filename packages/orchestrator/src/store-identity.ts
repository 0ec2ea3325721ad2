// Who a store is: an id that is written into it once, so that two processes can find out whether they share one, however each of
// them spells its address. It says nothing about what the store holds, and is no secret.

import { randomUUID } from 'node:crypto'
import { type Collection, type Document, type Engine, isRepriseError } from '@reprise/core'

interface IdentityDocument extends Document {
  readonly store: string
}

const ID = 'identity'

const known = new WeakMap<object, Promise<string>>()

const collectionOf = (engine: Pick<Engine, 'collection'>): Collection<IdentityDocument> =>
  engine.collection({ name: 'store', indexes: {} })

/** Made by the process that comes first, and the same for ever. */
export function storeIdentity(engine: Pick<Engine, 'collection'>): Promise<string> {
  const asked = known.get(engine) ?? readOrMake(collectionOf(engine))
  known.set(engine, asked)
  asked.catch(() => known.delete(engine))
  return asked
}

async function readOrMake(collection: Collection<IdentityDocument>): Promise<string> {
  const found = (await collection.get(ID)) ?? (await inserted(collection)) ?? (await collection.get(ID))
  if (found === null) throw new Error('The identity of the store was taken away while it was read.')
  return found.document.store
}

/** Null if somebody else was faster. */
async function inserted(collection: Collection<IdentityDocument>) {
  try {
    return await collection.insert({ id: ID, store: randomUUID() })
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return null
    throw error
  }
}
