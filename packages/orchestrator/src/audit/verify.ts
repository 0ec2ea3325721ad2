// Holds the journal against its seals, a few seals at a time: is the chain whole, and is every sealed entry there as it was sealed?
// Each problem names its entry, or its seal. Nothing is written.

import { type Clock, type JournalEntry, systemClock, turnsOf } from '@reprise/core'
import {
  entryDigest,
  HEAD_ID,
  isDense,
  NO_SEAL,
  type Seal,
  type SealPlace,
  sealHash,
  sealHeadIn,
  sealId,
  sealsIn,
} from './seal.ts'
import type { AuditEngine } from './sealer.ts'

export type AuditProblemKind =
  | 'entry_changed'
  | 'entry_missing'
  | 'entries_swapped'
  | 'entry_added'
  | 'entry_never_sealed'
  | 'seal_changed'
  | 'seal_missing'
  | 'chain_broken'
  | 'head_changed'

export interface AuditProblem {
  readonly kind: AuditProblemKind
  /** The seal in question. */
  readonly seal: number
  /** Ids of the entries in question. */
  readonly entries: readonly string[]
  readonly sentence: string
}

/** How far a check has come. */
export interface VerifyPlace {
  /** The last seal that was looked at, and its hash. */
  readonly last: SealPlace
  /** The last entry of that seal; null before the first. */
  readonly lastEntry: string | null
  /** Whether an entry was found that retention has not removed: from there on, none may be missing. */
  readonly isPastRetention: boolean
}

export interface VerifyStep {
  readonly seals: number
  readonly entries: number
  /** Sealed entries that retention has removed since. */
  readonly removed: number
  readonly problems: readonly AuditProblem[]
  /** Null when the last seal was looked at. */
  readonly next: VerifyPlace | null
  /** Entries that follow the last seal, up to a page of them; 0 as long as there is a next step. */
  readonly unsealed: number
  /** The last seal. Keep it elsewhere: a chain that ends earlier, or has another hash there, was tampered with. */
  readonly head: SealPlace
}

const SEALS_PER_STEP = 20
const PAGE = 100
const UNSEALED_MAX = 500
/** Of one seal, as many are held against each other to find what was swapped. */
const SWAPPED_MAX = 50
/** How many entries more than a seal has are read before those that were not found count as missing: partitions are merged by time. */
const READ_ON_MAX = 5_000

/** Looks at some seals behind `place`. `expected` is a seal that its caller has kept elsewhere. */
export async function verifyStep(
  engine: AuditEngine,
  place: VerifyPlace | null,
  expected: SealPlace | null = null,
  clock: Clock = systemClock,
): Promise<VerifyStep> {
  const stored = (await sealHeadIn(engine).get(HEAD_ID))?.document ?? null
  const head = stored ?? NO_SEAL
  const begin = { last: stored?.base ?? NO_SEAL, lastEntry: null, isPastRetention: false }
  // Retention may have removed the seals that a longer check was at.
  const from = place === null || place.last.number < begin.last.number ? begin : place
  const newest = (await sealsIn(engine).get(sealId(head.number)))?.document ?? null
  const look = new Look(engine, from, newest, { now: await engine.now(), pause: pauseOn(clock) })
  const until = Math.min(head.number, from.last.number + SEALS_PER_STEP)
  for (let number = from.last.number + 1; number <= until; number++) await look.at(number, expected)
  const isEnd = until >= head.number
  if (isEnd) look.end(head, expected)
  const cursor = stored?.cursor
  const unsealed = isEnd ? await countFrom(engine, cursor, pauseOn(clock)) : 0
  return {
    seals: look.seals,
    entries: look.entries,
    removed: look.removed,
    problems: look.problems,
    next: isEnd ? null : look.place,
    unsealed,
    head: { number: head.number, hash: head.hash },
  }
}

type Pause = () => Promise<void>
/** Others have their turn between two pages. */
function pauseOn(clock: Clock): Pause {
  const turns = turnsOf(clock)
  return async () => {
    if (turns.isSpent) await turns.wait()
  }
}

async function countFrom(engine: AuditEngine, from: string | undefined, pause: Pause): Promise<number> {
  let count = 0
  let cursor = from
  while (count < UNSEALED_MAX) {
    await pause()
    const page = await engine.journal.read({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    count += page.entries.length
    if (page.entries.length < PAGE) break
    cursor = page.cursor
  }
  return count
}

class Look {
  readonly problems: AuditProblem[] = []
  seals = 0
  entries = 0
  removed = 0
  place: VerifyPlace
  readonly #engine: AuditEngine
  readonly #newest: Seal | null
  readonly #now: number
  readonly #pause: Pause

  constructor(
    engine: AuditEngine,
    place: VerifyPlace,
    newest: Seal | null,
    { now, pause }: { readonly now: number; readonly pause: Pause },
  ) {
    this.#engine = engine
    this.place = place
    this.#newest = newest
    this.#now = now
    this.#pause = pause
  }

  async at(number: number, expected: SealPlace | null): Promise<void> {
    const seal = (await sealsIn(this.#engine).get(sealId(number)))?.document
    if (seal === undefined) {
      this.#tell('seal_missing', number, [], `Seal ${number} is missing.`)
      this.place = { ...this.place, last: { number, hash: '' }, lastEntry: null }
      return
    }
    this.seals++
    this.#chain(seal, expected)
    await this.#covered(seal)
    this.place = { ...this.place, last: seal, lastEntry: seal.entries.at(-1)?.[0] ?? null }
  }

  end(head: SealPlace, expected: SealPlace | null): void {
    const { last } = this.place
    if (last.hash !== '' && last.hash !== head.hash) {
      this.#tell('head_changed', head.number, [], `The head names another hash than seal ${head.number} has.`)
    }
    if (expected !== null && expected.number > head.number) {
      const sentence = `Seal ${expected.number} was expected, and the chain ends with seal ${head.number}: its end was cut off.`
      this.#tell('seal_missing', expected.number, [], sentence)
    }
  }

  #chain(seal: Seal, expected: SealPlace | null): void {
    const { number, hash, previous } = seal
    const { last } = this.place
    if (sealHash(seal) !== hash || (expected?.number === number && expected.hash !== hash)) {
      this.#tell(
        'seal_changed',
        number,
        [],
        `Seal ${number} is not as it was made: its content does not have its hash.`,
      )
    }
    // Behind a seal that is missing nothing is known to compare with.
    if (last.hash !== '' && previous !== last.hash) {
      this.#tell('chain_broken', number, [], `Seal ${number} does not follow seal ${last.number}.`)
    }
  }

  async #covered(seal: Seal): Promise<void> {
    const found = await entriesOf(this.#engine, seal, this.#pause)
    const wrong: JournalEntry[] = []
    for (const [at, [id, digest]] of seal.entries.entries()) {
      if (at % PAGE === 0) await this.#pause()
      const entry = found.get(id)
      if (entry === undefined) this.#missing(seal, id)
      else {
        this.entries++
        this.place = { ...this.place, isPastRetention: true }
        if (entryDigest(entry) !== digest) wrong.push(entry)
      }
    }
    this.#changed(seal, wrong)
    if (isDense(seal)) this.#numbered(seal, found)
  }

  #missing(seal: Seal, id: string): void {
    const keptMs = Math.min(seal.keptMs ?? Number.POSITIVE_INFINITY, this.#newest?.keptMs ?? Number.POSITIVE_INFINITY)
    const mayBeGone = seal.firstAt + keptMs <= this.#now
    // Retention begins with the oldest, in each partition.
    if (mayBeGone && !(isDense(seal) && this.place.isPastRetention)) this.removed++
    else this.#tell('entry_missing', seal.number, [id], `Entry ${id} was sealed, and is missing.`)
  }

  #changed({ number, entries }: Seal, wrong: readonly JournalEntry[]): void {
    const digests = new Map(entries)
    const told = new Set<string>()
    for (const entry of wrong) {
      if (told.has(entry.id)) continue
      // Does it say what was sealed under another number, and the other way round?
      const other = wrong
        .slice(0, SWAPPED_MAX)
        .find(
          (one) =>
            one.id !== entry.id &&
            entryDigest({ ...entry, id: one.id }) === digests.get(one.id) &&
            entryDigest({ ...one, id: entry.id }) === digests.get(entry.id),
        )
      told.add(entry.id)
      if (other === undefined) {
        this.#tell('entry_changed', number, [entry.id], `Entry ${entry.id} is not as it was sealed.`)
      } else {
        told.add(other.id)
        const sentence = `Entries ${entry.id} and ${other.id} were swapped.`
        this.#tell('entries_swapped', number, [entry.id, other.id], sentence)
      }
    }
  }

  /** Numbers without gaps: what was removed before it was sealed shows as well, and what was put there later. */
  #numbered({ number, entries }: Seal, found: ReadonlyMap<string, JournalEntry>): void {
    const sealed = new Set(entries.map(([id]) => id))
    const last = Number(entries.at(-1)?.[0] ?? 0)
    for (const id of found.keys()) {
      if (!sealed.has(id) && Number(id) <= last) {
        this.#tell('entry_added', number, [id], `Entry ${id} is in no seal: it was added later.`)
      }
    }
    let before = this.place.lastEntry === null ? null : Number(this.place.lastEntry)
    for (const [id] of entries) {
      if (before !== null && Number(id) !== before + 1) {
        const gone = before + 2 === Number(id) ? `Entry ${before + 1}` : `Entries ${before + 1} to ${Number(id) - 1}`
        this.#tell('entry_never_sealed', number, [String(before + 1)], `${gone} went before they could be sealed.`)
      }
      before = Number(id)
    }
  }

  #tell(kind: AuditProblemKind, seal: number, entries: readonly string[], sentence: string): void {
    this.problems.push({ kind, seal, entries, sentence })
  }
}

/** The entries of a seal that are there, by id; with those that stand between them now. */
export async function entriesOf(
  engine: AuditEngine,
  seal: Seal,
  pause: Pause = pauseOn(systemClock),
): Promise<ReadonlyMap<string, JournalEntry>> {
  const wanted = new Set(seal.entries.map(([id]) => id))
  const found = new Map<string, JournalEntry>()
  let cursor = seal.from
  for (let read = 0; wanted.size > 0 && read < seal.entries.length + READ_ON_MAX; ) {
    await pause()
    const page = await engine.journal.read({ cursor, limit: PAGE })
    for (const entry of page.entries) {
      found.set(entry.id, entry)
      wanted.delete(entry.id)
    }
    read += page.entries.length
    const isPast = isDense(seal) && Number(page.entries.at(-1)?.id ?? 0) >= Number(seal.to)
    if (page.entries.length < PAGE || isPast) break
    cursor = page.cursor
  }
  return found
}
