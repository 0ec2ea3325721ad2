// Cases in a store: read, stepped, and told. A step and its entries for the journal are written in one document; the process
// that took the step tells the entries, then strikes them out. If it dies in between, the next round of any orchestrator tells them: an entry
// may be told twice, never not at all.

import { isRepriseError } from '../model/errors.ts'
import type { Collection, Stored } from '../port/collection.ts'
import type { Records } from '../port/engine.ts'
import { stepDocument } from '../port/step-document.ts'
import { type GroupCase, newCase } from './group-case.ts'

export const casesIn = (engine: Pick<Records, 'collection'>): Collection<GroupCase> =>
  engine.collection<GroupCase>({
    name: 'failure-cases',
    indexes: {
      status: ({ state }) => state.status,
      timed: ({ state }) => (state.status === 'ignored' && state.until !== null ? 'yes' : null),
      merged: ({ mergedInto }) => (mergedInto === null ? null : 'yes'),
      into: ({ mergedInto }) => mergedInto,
      untold: ({ untold }) => (untold.length > 0 ? 'yes' : null),
    },
  })

/** Takes a step of a case, which is made if there is none, and tells of it. Null if `next` gave null. */
export async function stepCase(
  engine: Pick<Records, 'collection' | 'journal'>,
  made: { readonly id: string; readonly action: string; readonly at: number },
  next: (one: GroupCase) => GroupCase | null,
): Promise<GroupCase | null> {
  const cases = casesIn(engine)
  for (;;) {
    if ((await cases.get(made.id)) !== null) {
      const stepped = await stepDocument(cases, made.id, next)
      if (stepped !== null) await tell(engine, stepped)
      return stepped
    }
    const first = next(newCase(made.id, made.action, made.at))
    if (first === null) return null
    try {
      await cases.insert(first)
    } catch (error) {
      // Somebody else made it meanwhile.
      if (isRepriseError(error, 'REPRISE_CONFLICT')) continue
      throw error
    }
    await tell(engine, first)
    return first
  }
}

async function tell(engine: Pick<Records, 'collection' | 'journal'>, { id, untold }: GroupCase): Promise<void> {
  if (untold.length === 0) return
  await engine.journal.append(untold)
  const texts = new Set(untold.map((entry) => JSON.stringify(entry)))
  await stepDocument(casesIn(engine), id, (one) => ({
    ...one,
    untold: one.untold.filter((entry) => !texts.has(JSON.stringify(entry))),
  }))
}

/** How long the process that took a step has to tell of it. */
const TELL_MS = 10_000
const UNTOLD_AT_ONCE = 100

/** Tells what processes left untold that died after a step. */
export async function tellLeftovers(engine: Pick<Records, 'collection' | 'journal'>, now: number): Promise<void> {
  const { items } = await casesIn(engine).find({ index: 'untold', value: 'yes', limit: UNTOLD_AT_ONCE })
  for (const { document, updatedAt } of items) if (updatedAt <= now - TELL_MS) await tell(engine, document)
}

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
