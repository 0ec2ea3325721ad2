// Seals of the journal: each one covers the entries that follow those of the seal before, with a digest of every entry, and has a
// hash over all that and over the hash of the seal before. So an entry that is changed, removed, swapped or slipped in later shows,
// and so does a seal. Here is what a seal is and how it is computed; who seals is sealer.ts, who checks is verify.ts.

import { createHash } from 'node:crypto'
import type { Collection, Document, Engine, JournalEntry } from '@reprise/core'

/** What a seal says, all of it under its hash. */
export interface SealContent {
  /** From 1, without gaps. */
  readonly number: number
  /** The hash of the seal before; that of nothing for the first. */
  readonly previous: string
  /** The cursors of the journal before and behind its entries. */
  readonly from: string
  readonly to: string
  readonly firstAt: number
  readonly lastAt: number
  /** How long the journal was kept when it was sealed; null for ever. What is older may be gone. */
  readonly keptMs: number | null
  readonly sealedAt: number
  readonly entries: readonly SealedEntry[]
}

type SealedEntry = readonly [id: string, digest: string]

export interface Seal extends Document, SealContent {
  readonly hash: string
}

/** How far the journal is sealed. What it says is found again in the seals; it saves looking for the last one. */
export interface SealHead extends Document {
  readonly number: number
  readonly hash: string
  readonly cursor: string
  /** The last seal that was removed because retention has removed its entries: the chain begins behind it. */
  readonly base: SealPlace
}

export interface SealPlace {
  readonly number: number
  readonly hash: string
}

export const HEAD_ID = 'head'
export const NO_SEAL: SealPlace = { number: 0, hash: '0'.repeat(64) }
/** A seal with this many entries is some 20 KB. */
export const SEAL_ENTRIES_MAX = 500

type Store = Pick<Engine, 'collection'>

export const sealsIn = (engine: Store): Collection<Seal> =>
  engine.collection<Seal>({ name: 'audit-seals', indexes: {} })
export const sealHeadIn = (engine: Store): Collection<SealHead> =>
  engine.collection<SealHead>({ name: 'audit-head', indexes: {} })

export const sealId = (number: number): string => `seal-${String(number).padStart(12, '0')}`

const DIGEST_LENGTH = 32

/** Of everything that an entry says. The order of what stands in `data` is no part of it. */
export function entryDigest({ id, at, type, taskId, attempt, actor, reason, data }: JournalEntry): string {
  const facts = Object.entries(data).toSorted(([one], [other]) => (one < other ? -1 : 1))
  const text = JSON.stringify([id, at, type, taskId, attempt, actor, reason, facts])
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH)
}

export function sealHash(content: SealContent): string {
  const { number, previous, from, to, firstAt, lastAt, keptMs, sealedAt, entries } = content
  const text = JSON.stringify([number, previous, from, to, firstAt, lastAt, keptMs, sealedAt, entries])
  return createHash('sha256').update(text).digest('hex')
}

export function makeSeal(content: SealContent): Seal {
  return { id: sealId(content.number), ...content, hash: sealHash(content) }
}

/** Journals in one piece number their entries without gaps. Those of several partitions have a place in each, in every cursor. */
export const isDense = ({ to }: Pick<SealContent, 'to'>): boolean => !to.includes('_')
