// Pages over several partitions. Each partition gives its items in order, a few at a time; they are merged as they come. The
// cursor of the whole is the cursors of all partitions, so nothing is shown twice or passed over.

import { foreignCursor } from '@reprise/core/engine'

interface Row<Item> {
  readonly item: Item
  /** The position after this item in its partition. */
  readonly cursor: string
}

/** Looked through up to here, and nobody knows what follows. */
interface Stop {
  readonly item: null
  readonly cursor: string
}

const isStop = (row: Row<object> | Stop): row is Stop => row.item === null

/** What follows a position in one partition: as many as are wanted, or all there are; then a stop may be the last. */
export type Fetch<Item> = (cursor: string, wanted: number, place: number) => Promise<readonly (Row<Item> | Stop)[]>

export interface Merged<Item> {
  readonly rows: readonly { readonly item: Item; readonly place: number }[]
  readonly cursor: string
  readonly hasMore: boolean
}

const EXTRA = 4

/**
 * `isBefore` orders items of different partitions; those of one keep their order. The page ends where one partition was not
 * looked through any further: what it has there may come before all that the others have.
 */
export async function merge<Item extends object>(
  cursors: readonly string[],
  limit: number,
  fetch: Fetch<Item>,
  isBefore: (a: Item, b: Item) => boolean,
): Promise<Merged<Item>> {
  const wanted = Math.min(limit, Math.ceil((2 * limit) / cursors.length) + EXTRA)
  const feeds = cursors.map((cursor, place) => new Feed(cursor, wanted, (at, count) => fetch(at, count, place)))
  await Promise.all(feeds.map((feed) => feed.fill()))
  const rows: { readonly item: Item; readonly place: number }[] = []
  const first = (): number => {
    let best = -1
    feeds.forEach(({ head }, place) => {
      const other = feeds[best]?.head ?? null
      if (head !== null && (other === null || isBefore(head.item, other.item))) best = place
    })
    return best
  }
  for (let place = first(); place !== -1 && rows.length < limit; place = first()) {
    const feed = feeds[place]
    if (feed?.head == null || feeds.some(({ isStopped }) => isStopped)) break
    rows.push({ item: feed.head.item, place })
    feed.shift()
    await feed.fill()
  }
  return {
    rows,
    cursor: joined(feeds.map(({ cursor }) => cursor)),
    hasMore: feeds.some(({ head, isStopped }) => head !== null || isStopped),
  }
}

class Feed<Item extends object> {
  readonly #fetch: (cursor: string, wanted: number) => ReturnType<Fetch<Item>>
  readonly #wanted: number
  #rows: Awaited<ReturnType<Fetch<Item>>> = []
  #at = 0
  #isLast = false
  isStopped = false
  /** After what was taken. */
  cursor: string

  constructor(cursor: string, wanted: number, fetch: (cursor: string, wanted: number) => ReturnType<Fetch<Item>>) {
    this.cursor = cursor
    this.#wanted = wanted
    this.#fetch = fetch
  }

  get head(): Row<Item> | null {
    const row = this.#rows[this.#at]
    return row === undefined || isStop(row) ? null : row
  }

  shift(): void {
    this.cursor = this.head?.cursor ?? this.cursor
    this.#at++
  }

  async fill(): Promise<void> {
    if (this.head !== null || this.isStopped) return
    if (!this.#isLast) {
      this.#rows = await this.#fetch(this.cursor, this.#wanted)
      this.#at = 0
      this.#isLast = this.#rows.length < this.#wanted || this.#rows.some(isStop)
    }
    const next = this.#rows[this.#at]
    if (next === undefined || !isStop(next)) return
    this.isStopped = true
    this.cursor = next.cursor
  }
}

const SEPARATOR = '_'

const joined = (cursors: readonly string[]): string => cursors.join(SEPARATOR)

/** The cursors of the partitions; `start` for all if none is given. */
export function split(cursor: string | undefined, start: string, part: RegExp, count: number): readonly string[] {
  if (cursor === undefined) return Array.from({ length: count }, () => start)
  const cursors = cursor.split(SEPARATOR)
  if (cursors.length !== count || !cursors.every((one) => one === start || part.test(one))) {
    throw foreignCursor()
  }
  return cursors
}

/** A position in one partition after the other, as one whole number. */
export function placeAndPosition(
  cursor: number | null,
  count: number,
): { readonly place: number; readonly position: number } {
  const at = cursor ?? 0
  return { place: at % count, position: Math.floor(at / count) }
}

export const wholeCursor = (place: number, position: number, count: number): string => String(position * count + place)
