// Cases in a store: read, and stepped with the entries that tell of it.

import type { Collection, Stored } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'
import { stepOrInsertTold, untoldIndex } from '../port/told-documents.ts'
import { type GroupCase, newCase } from './group-case.ts'

export const casesIn = (engine: Pick<Records, 'collection'>): Collection<GroupCase> =>
  engine.collection<GroupCase>({
    name: 'failure-cases',
    indexes: {
      status: ({ state }) => state.status,
      timed: ({ state }) => (state.status === 'ignored' && state.until !== null ? 'yes' : null),
      merged: ({ mergedInto }) => (mergedInto === null ? null : 'yes'),
      into: ({ mergedInto }) => mergedInto,
      untold: untoldIndex,
      recovering: ({ recovering }) => (recovering === true ? 'yes' : null),
    },
  })

/** Takes a step of a case, which is made if there is none, and tells of it. Null if `next` gave null. */
export const stepCase = (
  engine: Pick<Records, 'collection' | 'journal'>,
  { id, action, at }: { readonly id: string; readonly action: string; readonly at: number },
  next: (one: GroupCase) => GroupCase | null,
): Promise<GroupCase | null> => stepOrInsertTold(engine.journal, casesIn(engine), newCase(id, action, at), next)

const READ_AT_ONCE = 50

/** The cases of these groups, by fingerprint; those that there are. */
export async function casesOf(
  engine: Pick<Records, 'collection'>,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, GroupCase>> {
  const cases = casesIn(engine)
  const found = new Map<string, GroupCase>()
  for (let at = 0; at < fingerprints.length; at += READ_AT_ONCE) {
    const some: readonly (Stored<GroupCase> | null)[] = await Promise.all(
      fingerprints.slice(at, at + READ_AT_ONCE).map((id) => cases.get(id)),
    )
    for (const stored of some) if (stored !== null) found.set(stored.document.id, stored.document)
  }
  return found
}
