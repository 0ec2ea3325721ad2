// What a redrive did by itself is told in the journal, once, whatever process dies on the way. The step writes what is to be told
// into the document. Then the entry is written, and then the document says that it was. A process that finds something untold
// in a redrive that it took over does not know how far the other came: it looks for the entry first.

import { type Collection, type Engine, type JournalEntryInput, stepDocument } from '@reprise/core'
import type { RedriveDocument, Untold } from './redrive.ts'

/** How many entries are looked through for one that may be there. */
const LOOKED_AT_MAX = 10_000
const PAGE = 1_000

/** Tells it, and answers the redrive as it is then; null if that is gone. */
export async function tell(
  engine: Pick<Engine, 'journal'>,
  redrives: Collection<RedriveDocument>,
  id: string,
  untold: Untold,
): Promise<RedriveDocument | null> {
  const { state, reason } = untold
  const data = { redrive: id, state }
  const entry: JournalEntryInput = {
    type: 'redrive.changed',
    taskId: null,
    attempt: null,
    actor: 'redrives',
    reason,
    data,
  }
  await engine.journal.append([entry])
  return markTold(redrives, id, untold)
}

/** The same for what another process may have told. */
export async function tellUnlessTold(
  engine: Pick<Engine, 'journal'>,
  redrives: Collection<RedriveDocument>,
  id: string,
  untold: Untold,
): Promise<RedriveDocument | null> {
  return (await isTold(engine, id, untold)) ? markTold(redrives, id, untold) : tell(engine, redrives, id, untold)
}

/** An operator may have said something meanwhile: all but this stays as it is. */
const markTold = (
  redrives: Collection<RedriveDocument>,
  id: string,
  { at, state }: Untold,
): Promise<RedriveDocument | null> =>
  stepDocument(redrives, id, (redrive) =>
    redrive.untold?.at === at && redrive.untold.state === state ? { ...redrive, untold: null } : redrive,
  )

async function isTold({ journal }: Pick<Engine, 'journal'>, id: string, { state, at }: Untold): Promise<boolean> {
  let cursor = await journal.from(at)
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += PAGE) {
    const { entries, cursor: next } = await journal.read({ cursor, limit: PAGE })
    const isThere = entries.some(
      ({ type, actor, data, at: toldAt }) =>
        type === 'redrive.changed' &&
        actor === 'redrives' &&
        data.redrive === id &&
        data.state === state &&
        toldAt >= at,
    )
    if (isThere) return true
    if (entries.length < PAGE) return false
    cursor = next
  }
  return false
}
