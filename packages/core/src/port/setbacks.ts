// Setbacks: a store that no longer has what it acknowledged. A server came back with an older file, a replica that lagged behind
// took over, or somebody emptied or restored the store. The store itself can't know. Processes that worked with it can: its
// numbers only go up, and they have seen higher ones. An engine tells what its own process noticed (`engine.setbacks`). Here is
// what is kept of it in the store, one document for each part of it, so that everybody who looks hears of it:
// - **new**: made by the process that noticed first. It writes the journal entry; if it dies before that, another one does.
// - **noted**: the journal has its entry. Processes that saw more of the gap widen it.
// - **accepted**: somebody ran an inspection with repair. It is shown no more.

import { isRepriseError } from '../model/errors.ts'
import type { By } from './changes.ts'
import type { Collection, Document, Stored } from './collection.ts'
import type { Records } from './engine.ts'
import { type Finding, findingOf, repairData } from './inspect.ts'

export interface Setback {
  /** The partition, counted from 0; 0 in a store that has none. */
  readonly part: number
  /** The highest number that was seen in it, and when, by the store's clock. */
  readonly seen: number
  readonly seenAt: number
  /** The number with which it went on, and since when. */
  readonly found: number
  readonly foundAt: number
}

/** The last setback of a part, as far as all processes together know it. Earlier ones are in the journal. */
interface SetbackDocument extends Document, Setback {
  /** Whether the journal has its entry. */
  readonly isNoted: boolean
  readonly acceptedBy: string | null
}

/** How many are shown. Partitions on one server lose together. */
const SHOWN_MAX = 100
const TRIES_MAX = 10

const records = (engine: Pick<Records, 'collection'>): Collection<SetbackDocument> =>
  engine.collection<SetbackDocument>({ name: 'setbacks', indexes: {} })

async function open(engine: Pick<Records, 'collection'>): Promise<readonly Stored<SetbackDocument>[]> {
  const { items } = await records(engine).list({ limit: SHOWN_MAX })
  return items
    .filter(({ document }) => document.acceptedBy === null)
    .toSorted((a, b) => b.document.foundAt - a.document.foundAt)
}

/** Those that nobody has accepted, the latest first. */
export async function openSetbacks(engine: Pick<Records, 'collection'>): Promise<readonly Setback[]> {
  return (await open(engine)).map(({ document }) => document)
}

/**
 * Keeps what a process noticed. Answers whether the journal has its entry: if not, its maker is about to write it, and one who
 * calls again later and finds it missing still (`isLate`) writes it.
 */
export async function noteSetback(engine: Records, setback: Setback, actor: string, isLate = false): Promise<boolean> {
  const collection = records(engine)
  const id = `part-${setback.part}`
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const stored = await collection.get(id)
    const known = stored !== null && isSame(stored.document, setback) ? stored.document : null
    if (known?.isNoted === true && holds(known, setback)) return true
    const document = { id, ...(known === null ? fresh(setback) : widened(known, setback)) }
    const kept = await unlessConflict(
      stored === null ? collection.insert(document) : collection.update(document, stored.version),
    )
    if (kept === null) continue
    if (document.isNoted) return true
    if (known !== null && !isLate) return false
    const { part, seen, seenAt, found, foundAt } = document
    const data = { part, seen, seenAt, found, foundAt }
    const reason = setbackSentence(document)
    await engine.journal.append([{ type: 'store.set_back', taskId: null, attempt: null, actor, reason, data }])
    return (await unlessConflict(collection.update({ ...document, isNoted: true }, kept.version))) !== null
  }
  return false
}

const fresh = ({ part, seen, seenAt, found, foundAt }: Setback) => {
  return { part, seen, seenAt, found, foundAt, isNoted: false, acceptedBy: null }
}

/** Two processes that tell of one loss: each saw the store beyond the number with which it came back, and before that. */
const isSame = (a: Setback, b: Setback): boolean =>
  a.found < b.seen && b.found < a.seen && a.foundAt >= b.seenAt && b.foundAt >= a.seenAt

const holds = (known: Setback, { seen, found }: Setback): boolean => known.seen >= seen && known.found <= found

function widened(known: SetbackDocument, setback: Setback): SetbackDocument {
  const { seen, seenAt } = known.seen >= setback.seen ? known : setback
  const { found, foundAt } = known.found <= setback.found ? known : setback
  return { ...known, seen, seenAt, found, foundAt }
}

/** What an inspection says of them. With repair the loss is accepted: nothing brings the writes back. */
export async function setbackFindings(
  engine: Records,
  { repair, by }: { readonly repair: boolean; readonly by: By },
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { document, version } of await open(engine)) {
    const { seen, seenAt, found, foundAt } = document
    const finding = findingOf({
      kind: 'set_back',
      subject: { kind: 'store' },
      found: `number ${found} at ${isoTime(foundAt)}`,
      expected: `number ${seen} or more, seen at ${isoTime(seenAt)}`,
      repaired: repair,
    })
    if (repair) {
      const accepted = records(engine).update({ ...document, acceptedBy: by.actor }, version)
      if ((await unlessConflict(accepted)) === null) continue
      const entry = { type: 'store.repaired', taskId: null, attempt: null, ...by, data: repairData(finding) } as const
      await engine.journal.append([entry])
    }
    findings.push(finding)
  }
  return findings
}

/** Null if another process was faster. */
async function unlessConflict<T>(changed: Promise<T>): Promise<T | null> {
  try {
    return await changed
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT') || isRepriseError(error, 'REPRISE_NOT_FOUND')) return null
    throw error
  }
}

const isoTime = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z')

/** For a person: what is known of the gap. */
export function setbackSentence({ part, seen, seenAt, found, foundAt }: Setback): string {
  const where = part === 0 ? 'The store' : `Partition ${part} of the store`
  const gap = `it had come to number ${seen} at ${isoTime(seenAt)}, and went on from ${found} at ${isoTime(foundAt)}`
  return `${where} lost writes that it had acknowledged: ${gap}.`
}
