// Documents whose steps are told in the journal. A step and its entries are written in one document; the process that took the step
// tells the entries, then strikes them out. If it dies in between, the next round of any orchestrator tells them: an entry may be
// told twice, never not at all. The collection has an index `untold`, made by `untoldIndex`.

import { isRepriseError } from '../model/errors.ts'
import type { Collection, Document } from './collection.ts'
import type { Journal, JournalEntryInput } from './journal.ts'
import { stepDocument } from './step-document.ts'

export interface ToldDocument extends Document {
  /** Entries that belong to the last steps and may not be in the journal yet. */
  readonly untold: readonly JournalEntryInput[]
}

export const untoldIndex = ({ untold }: ToldDocument): string | null => (untold.length > 0 ? 'yes' : null)

/** Takes a step of a document, and tells of it. Null if `next` gave null, or there is no such document. */
export async function stepTold<D extends ToldDocument>(
  journal: Pick<Journal, 'append'>,
  documents: Collection<D>,
  id: string,
  next: (document: D) => D | null,
): Promise<D | null> {
  const stepped = await stepDocument(documents, id, next)
  if (stepped !== null) await tell(journal, documents, stepped)
  return stepped
}

/** As `stepTold`; the document is made from `first` if there is none. */
export async function stepOrInsertTold<D extends ToldDocument>(
  journal: Pick<Journal, 'append'>,
  documents: Collection<D>,
  first: D,
  next: (document: D) => D | null,
): Promise<D | null> {
  for (;;) {
    if ((await documents.get(first.id)) !== null) return stepTold(journal, documents, first.id, next)
    const made = next(first)
    if (made === null) return null
    try {
      await documents.insert(made)
    } catch (error) {
      // Somebody else made it meanwhile.
      if (isRepriseError(error, 'REPRISE_CONFLICT')) continue
      throw error
    }
    await tell(journal, documents, made)
    return made
  }
}

async function tell<D extends ToldDocument>(
  journal: Pick<Journal, 'append'>,
  documents: Collection<D>,
  { id, untold }: D,
): Promise<void> {
  if (untold.length === 0) return
  await journal.append(untold)
  const texts = new Set(untold.map((entry) => JSON.stringify(entry)))
  await stepDocument(documents, id, (one) => ({
    ...one,
    untold: one.untold.filter((entry) => !texts.has(JSON.stringify(entry))),
  }))
}

/** How long the process that took a step has to tell of it. */
const TELL_MS = 10_000
const UNTOLD_AT_ONCE = 100

/** Tells what processes left untold that died after a step. Answers the documents that it told of. */
export async function tellLeftovers<D extends ToldDocument>(
  journal: Pick<Journal, 'append'>,
  documents: Collection<D>,
  now: number,
): Promise<readonly D[]> {
  const { items } = await documents.find({ index: 'untold', value: 'yes', limit: UNTOLD_AT_ONCE })
  const left = items.filter(({ updatedAt }) => updatedAt <= now - TELL_MS).map(({ document }) => document)
  for (const document of left) await tell(journal, documents, document)
  return left
}
