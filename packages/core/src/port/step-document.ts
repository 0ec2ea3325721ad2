// One step of a document's state machine, taken once however many processes try it at the same moment. No process leads: the
// version of the document decides.

import { ConflictError, isRepriseError } from '../model/errors.ts'
import type { Collection, Document, Stored } from './collection.ts'

/** Each try loses to a step that somebody else has taken, so that this is far more than a healthy store needs. */
const TRIES_MAX = 100

/**
 * Reads the document, asks `next` what it becomes, and writes that over the very version that was read. If another process was
 * faster, `next` is asked again about what is there now. Null if nothing was written: the document is gone, or `next` gave
 * null. Only the process that gets a document back has taken the step, and goes on with what follows from it.
 */
export async function stepDocument<D extends Document>(
  collection: Pick<Collection<D>, 'get' | 'update'>,
  id: string,
  next: (document: D) => D | null,
): Promise<D | null> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stored = await collection.get(id)
    const changed = stored === null ? null : next(stored.document)
    if (stored === null || changed === null) return null
    try {
      return (await collection.update(changed, stored.version)).document
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_NOT_FOUND')) return null
      if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    }
  }
  throw new ConflictError(`Others changed '${id}' ${TRIES_MAX} times meanwhile. Try again.`)
}

/** The document under this id. If there is none, `first` is asked for one, and whichever process is faster puts its own there. */
export async function getOrInsert<D extends Document>(
  collection: Pick<Collection<D>, 'get' | 'insert'>,
  id: string,
  first: () => D | Promise<D>,
): Promise<Stored<D>> {
  for (;;) {
    const stored = await collection.get(id)
    if (stored !== null) return stored
    try {
      return await collection.insert(await first())
    } catch (error) {
      if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    }
  }
}
