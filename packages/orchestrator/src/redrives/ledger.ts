// What a running redrive knows about its items: the counts of each chunk, and what failed again. Made from the chunks when a process
// takes the redrive over, and kept up to date with what is written: so it is right after any crash. A few numbers per chunk.

import type { ActionName, Collection, Fingerprint } from '@reprise/core'
import { chunkId, countsOf, type RedriveChunk, type RedriveItem, sumOf } from './chunk.ts'
import { withCauses } from './collect.ts'
import { type CauseCount, type Halt, type ItemCounts, NO_ITEMS } from './redrive.ts'
import type { Standing } from './stages.ts'

const EVIDENCE_MAX = 10
const MESSAGE_LENGTH_MAX = 200

interface ChunkStanding {
  readonly counts: ItemCounts
  readonly same: number
  readonly again: readonly CauseCount[]
}

export class ItemLedger {
  readonly #chunks: ChunkStanding[] = []
  #evidence: Halt['evidence'] = []

  static async read(chunks: Collection<RedriveChunk>, id: string, count: number): Promise<ItemLedger> {
    const ledger = new ItemLedger()
    for (let at = 0; at < count; at++) {
      const stored = await chunks.get(chunkId(id, at))
      ledger.note(at, stored?.document ?? { id: '', lanes: [], causes: [], items: [] })
    }
    return ledger
  }

  /** A chunk as it was written. */
  note(at: number, chunk: RedriveChunk): void {
    const failed = chunk.items.filter(({ status }) => status === 'failed')
    this.#chunks[at] = {
      counts: countsOf(chunk),
      same: failed.filter(isSame).length,
      again: againOf(chunk, failed),
    }
    const known = new Set(this.#evidence.map(({ taskId }) => taskId))
    const more = failed.filter(({ id }) => !known.has(id)).map((item) => evidenceOf(chunk, item))
    this.#evidence = [...more, ...this.#evidence].slice(0, EVIDENCE_MAX)
  }

  countsAt(at: number): ItemCounts {
    return this.#chunks[at]?.counts ?? NO_ITEMS
  }

  get standing(): Standing {
    const same = this.#chunks.reduce((sum, chunk) => sum + chunk.same, 0)
    return { ...sumOf(this.#chunks.map(({ counts }) => counts)), same }
  }

  get again(): readonly CauseCount[] {
    return this.#chunks.reduce<readonly CauseCount[]>(
      (all, { again }) => (again.length === 0 ? all : withCauses(all, again)),
      [],
    )
  }

  /** The newest failures first. */
  get evidence(): Halt['evidence'] {
    return this.#evidence
  }

  /** Chunks with items of this status, in the order in which they are sent. */
  having(status: keyof ItemCounts): readonly number[] {
    const places: number[] = []
    for (let at = this.#chunks.length - 1; at >= 0; at--)
      if ((this.#chunks[at]?.counts[status] ?? 0) > 0) places.push(at)
    return places
  }
}

const isSame = ({ cause, again }: RedriveItem): boolean => again === cause

function againOf({ causes, lanes }: RedriveChunk, failed: readonly RedriveItem[]): readonly CauseCount[] {
  const counts = failed.map(({ again, lane }): CauseCount => {
    const cause = again === undefined ? undefined : causes[again]
    return {
      fingerprint: cause?.fingerprint ?? ('unknown' as Fingerprint),
      action: lanes[lane]?.action ?? ('unknown' as ActionName),
      message: cause?.message ?? 'It was redriven by somebody else since.',
      count: 1,
    }
  })
  return withCauses([], counts)
}

function evidenceOf({ causes }: RedriveChunk, item: RedriveItem): Halt['evidence'][number] {
  const cause = item.again === undefined ? undefined : causes[item.again]
  return {
    taskId: item.id,
    fingerprint: cause?.fingerprint ?? null,
    message: (cause?.message ?? item.why ?? '').slice(0, MESSAGE_LENGTH_MAX),
    isSame: isSame(item),
  }
}
