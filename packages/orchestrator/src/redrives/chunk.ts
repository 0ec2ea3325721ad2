// The dead letters of a redrive, in documents of a bounded size. Each item says which task it is, in which generation it was found,
// and what became of it. A chunk is the truth about its items: what the redrive says about all of them is counted from here.
// Items stand oldest first within a chunk, and the last chunk has the oldest: they are sent in that order.

import type { Collection, Document, Engine, Fingerprint, Task, TaskId } from '@reprise/core'
import { type ItemCounts, NO_ITEMS, type RedriveLane } from './redrive.ts'

/** What became of an item; see ItemCounts. */
export type ItemStatus = keyof ItemCounts

/** `lane` and `cause` are places in the lists of its chunk. */
export interface RedriveItem {
  readonly id: TaskId
  readonly generation: number
  readonly lane: number
  readonly cause: number
  readonly status: ItemStatus
  /** Why it failed again: a place among the causes. */
  readonly again?: number
  /** Why it was skipped, or what it ended as. */
  readonly why?: string
}

interface ChunkCause {
  readonly fingerprint: Fingerprint
  /** How the message begins; empty from a number of causes on. */
  readonly message: string
}

export interface RedriveChunk extends Document {
  readonly lanes: readonly RedriveLane[]
  readonly causes: readonly ChunkCause[]
  readonly items: readonly RedriveItem[]
}

export const CHUNK_ITEMS_MAX = 500
const MESSAGES_MAX = 50
const MESSAGE_LENGTH_MAX = 160
const WHY_LENGTH_MAX = 120
/** Where characters take several bytes. */
const WIDE_WHY_LENGTH_MAX = 40

export const chunksIn = (engine: Pick<Engine, 'collection'>): Collection<RedriveChunk> =>
  engine.collection<RedriveChunk>({ name: 'redrive-items', indexes: {} })

export const chunkId = (redrive: string, at: number): string => `${redrive}.${at}`

/** A chunk of these dead letters, which come newest first. */
export function chunkOf(id: string, tasks: readonly Task[]): RedriveChunk {
  const lanes = new Listed<RedriveLane>(({ pool, action, tenant }) => JSON.stringify([pool, action, tenant]))
  const causes = new Listed<ChunkCause>(({ fingerprint }) => fingerprint)
  const items = tasks.toReversed().flatMap((task): RedriveItem[] => {
    if (task.state.status !== 'dead') return []
    const { pool, action, tenant } = task
    const lane = lanes.placeOf({ pool, action, tenant })
    const cause = causes.placeOf(causeOf(task.state.failure, causes.items.length))
    return [{ id: task.id, generation: task.generation, lane, cause, status: 'pending' }]
  })
  return { id, lanes: lanes.items, causes: causes.items, items }
}

const causeOf = (
  { fingerprint, message }: { readonly fingerprint: Fingerprint; readonly message: string },
  known: number,
): ChunkCause => ({ fingerprint, message: known < MESSAGES_MAX ? message.slice(0, MESSAGE_LENGTH_MAX) : '' })

/** What is learned about an item: its status, and why. */
export interface ItemNews {
  readonly status: ItemStatus
  readonly failure?: { readonly fingerprint: Fingerprint; readonly message: string }
  readonly why?: string
  /** The task's own, if that has changed. */
  readonly generation?: number
}

/** The chunk with this news, by the place of the item. */
export function withNews(chunk: RedriveChunk, news: ReadonlyMap<number, ItemNews>): RedriveChunk {
  const causes = new Listed<ChunkCause>(({ fingerprint }) => fingerprint, chunk.causes)
  const items = chunk.items.map((item, at): RedriveItem => {
    const one = news.get(at)
    if (one === undefined) return item
    const { id, lane, cause } = item
    const { status, failure, why, generation = item.generation } = one
    return {
      id,
      generation,
      lane,
      cause,
      status,
      ...(failure === undefined ? {} : { again: causes.placeOf(causeOf(failure, causes.items.length)) }),
      ...(why === undefined ? {} : { why: shortWhy(why) }),
    }
  })
  return { ...chunk, causes: causes.items, items }
}

/** Whatever it says, the chunk stays small enough for one document. */
function shortWhy(why: string): string {
  const short = why.slice(0, WHY_LENGTH_MAX)
  return Buffer.byteLength(short) === short.length ? short : short.slice(0, WIDE_WHY_LENGTH_MAX)
}

export function countsOf({ items }: Pick<RedriveChunk, 'items'>): ItemCounts {
  const counts = { ...NO_ITEMS }
  for (const { status } of items) counts[status]++
  return counts
}

export function sumOf(all: Iterable<ItemCounts>): ItemCounts {
  const sum = { ...NO_ITEMS }
  for (const counts of all) for (const name of Object.keys(sum) as ItemStatus[]) sum[name] += counts[name]
  return sum
}

/** A list in which each thing stands once. */
class Listed<T> {
  readonly #keyOf: (item: T) => string
  readonly #places = new Map<string, number>()
  readonly items: T[] = []

  constructor(keyOf: (item: T) => string, items: readonly T[] = []) {
    this.#keyOf = keyOf
    for (const item of items) this.placeOf(item)
  }

  placeOf(item: T): number {
    const key = this.#keyOf(item)
    const known = this.#places.get(key)
    if (known !== undefined) return known
    this.#places.set(key, this.items.length)
    return this.items.push(item) - 1
  }
}
