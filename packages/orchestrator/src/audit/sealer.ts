// Seals the journal (docs/audit.md): every few seconds the entries since the last seal get one. Any number of these may run: the
// number of a seal is its id, so that one process makes it, and the others go on behind it. Once retention has removed the entries
// of the oldest seals, those seals go too, and the head remembers where the chain begins.

import {
  check,
  type Engine,
  getOrInsert,
  isRepriseError,
  refuseNoEngine,
  type Service,
  type Stored,
} from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from '../service.ts'
import { SERVICE_CHECKS } from '../service-checks.ts'
import { AuditFile } from './file.ts'
import {
  entryDigest,
  HEAD_ID,
  makeSeal,
  NO_SEAL,
  SEAL_ENTRIES_MAX,
  type Seal,
  type SealHead,
  sealHeadIn,
  sealId,
  sealsIn,
} from './seal.ts'

export type AuditEngine = Pick<Engine, 'journal' | 'collection' | 'now'>

export interface AuditOptions extends ServiceOptions {
  readonly engine: AuditEngine
  /** How long entries of the journal are kept; for ever if missing. */
  readonly journalMs?: number | undefined
  /** Sealed entries are written there as well, if the flag audit-streaming is on. */
  readonly file?: string | undefined
  readonly isStreaming?: (() => boolean) | undefined
  readonly intervalMs?: number
}

const INTERVAL_MS = 5_000
/** How many seals follow each other before others have their turn. */
const SEALS_PER_ROUND = 20
/** Seals outlive their entries by this much, so that nobody misses what retention is about to remove. */
const KEEP_SEALS_MS = 86_400_000

const CHECKS: check.Table<AuditOptions> = {
  ...SERVICE_CHECKS,
  journalMs: check.ms,
  file: check.text,
  isStreaming: check.func,
  intervalMs: check.ms,
}

export function createAudit(options: AuditOptions): Service {
  check.options(options, CHECKS, 'audit option')
  const { engine, intervalMs = INTERVAL_MS, journalMs = null, file: path, isStreaming = () => true } = options
  refuseNoEngine(engine, 'collection', 'createAudit')
  const around = surroundings('audit', options)
  return createLoop('audit', around, () => {
    const file = path === undefined ? null : new AuditFile(path, engine)
    return {
      async round(signal) {
        let mayHaveMore = true
        for (let seal = 0; seal < SEALS_PER_ROUND && mayHaveMore && !signal.aborted; seal++) {
          mayHaveMore = await sealOnce(engine, journalMs)
        }
        if (file !== null && isStreaming()) await file.goOn(signal)
        if (mayHaveMore) return 1
        if (journalMs !== null) await removeOldSeals(engine, journalMs)
        return jitteredMs(intervalMs, around.random)
      },
    }
  })
}

/** Seals what follows the last seal. Whether there may be more to seal at once. */
export async function sealOnce(engine: AuditEngine, keptMs: number | null = null): Promise<boolean> {
  const sealedAt = await engine.now()
  const heads = sealHeadIn(engine)
  const head = await getOrInsert(heads, HEAD_ID, async () => ({
    id: HEAD_ID,
    ...NO_SEAL,
    cursor: await engine.journal.from(0),
    base: NO_SEAL,
  }))
  const known = await sealsIn(engine).get(sealId(head.document.number + 1))
  const seal = known?.document ?? (await nextSeal(engine, head.document, { keptMs, sealedAt }))
  if (seal === null) return false
  if (known === null && !(await inserted(engine, seal))) return true
  await moveHead(engine, head, seal)
  return seal.entries.length === SEAL_ENTRIES_MAX
}

async function nextSeal(
  engine: AuditEngine,
  head: SealHead,
  around: Pick<Seal, 'keptMs' | 'sealedAt'>,
): Promise<Seal | null> {
  const { entries, cursor } = await engine.journal.read({ cursor: head.cursor, limit: SEAL_ENTRIES_MAX })
  const [first] = entries
  const last = entries.at(-1)
  if (first === undefined || last === undefined) return null
  return makeSeal({
    number: head.number + 1,
    previous: head.hash,
    from: head.cursor,
    to: cursor,
    firstAt: first.at,
    lastAt: last.at,
    ...around,
    entries: entries.map((entry) => [entry.id, entryDigest(entry)]),
  })
}

/** False if another process has made the seal of this number: its seal counts. */
async function inserted(engine: AuditEngine, seal: Seal): Promise<boolean> {
  try {
    await sealsIn(engine).insert(seal)
    return true
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return false
    throw error
  }
}

/** A process that dies before this leaves a seal that the next one finds under its number. */
async function moveHead(engine: AuditEngine, head: Stored<SealHead>, { number, hash, to }: Seal): Promise<void> {
  try {
    await sealHeadIn(engine).update({ ...head.document, number, hash, cursor: to }, head.version)
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
  }
}

/** The chain begins later before its old seals go: who reads in between finds it whole. */
export async function removeOldSeals(engine: AuditEngine, journalMs: number): Promise<void> {
  const now = await engine.now()
  const seals = sealsIn(engine)
  for (let removed = 0; removed < SEALS_PER_ROUND; removed++) {
    const head = await sealHeadIn(engine).get(HEAD_ID)
    if (head === null || head.document.base.number >= head.document.number) return
    const { base } = head.document
    const oldest = await seals.get(sealId(base.number + 1))
    if (oldest === null || oldest.document.lastAt > now - journalMs - KEEP_SEALS_MS) return
    const { number, hash } = oldest.document
    try {
      await sealHeadIn(engine).update({ ...head.document, base: { number, hash } }, head.version)
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_CONFLICT')) return
      throw error
    }
    await seals.remove(oldest.document.id)
  }
}
