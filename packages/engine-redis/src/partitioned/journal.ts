// The journals of all partitions read as one: merged by time, each entry once. A cursor holds the place in each of them, so a
// reader who follows it misses nothing, however late an entry of one comes after those of another. Entries from outside
// go to the partition of their task, those of no task to the home.

import type { Journal, JournalEntry, JournalPage, JournalQuery } from '@reprise/core'
import { checkBatch, pageLimit } from '@reprise/core/engine'
import { journalOf, placeBefore, readJournal } from '../journal.ts'
import { merge, split } from './merge.ts'
import type { Partitions } from './partitions.ts'

export function journalOfAll(store: Partitions): Journal {
  return {
    async append(entries) {
      checkBatch(entries.length)
      const places = new Map<number, (typeof entries)[number][]>()
      for (const entry of entries) {
        const place = entry.taskId === null ? 0 : store.placeOf(entry.taskId)
        places.set(place, [...(places.get(place) ?? []), entry])
      }
      await Promise.all([...places].map(([place, own]) => journalOf(store.at(place)).append(own)))
    },
    read: (query = {}) => (query.taskId === undefined ? readAll(store, query) : readTask(store, query.taskId, query)),
    from: async (at) => (await placesBefore(store, at)).join('_'),
  }
}

const placesBefore = (store: Partitions, at: number): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: store.size }, (_, place) => placeBefore(store.at(place), at)))

const START = '0'
const POSITION = /^\d{1,15}$/

async function readAll(store: Partitions, query: JournalQuery): Promise<JournalPage> {
  const limit = pageLimit(query)
  const { newest } = query
  const page = await merge<JournalEntry>(
    await placesOf(store, query),
    limit,
    async (cursor, wanted, place) => {
      const own = { cursor, limit: wanted, ...(newest ? { newest } : {}) }
      const { entries } = await readJournal(store.at(place), own)
      return entries.map((item) => ({ item, cursor: item.id }))
    },
    newest ? (a, b) => a.at >= b.at : (a, b) => a.at < b.at,
  )
  return { entries: page.rows.map(({ item, place }) => outward(store, place, item)), cursor: page.cursor }
}

async function readTask(
  store: Partitions,
  taskId: NonNullable<JournalQuery['taskId']>,
  query: JournalQuery,
): Promise<JournalPage> {
  const limit = pageLimit(query)
  const cursors = [...(await placesOf(store, query))]
  const place = store.placeOf(taskId)
  const page = await readJournal(store.at(place), { ...query, limit, cursor: cursors[place] ?? START })
  cursors[place] = page.cursor
  return { entries: page.entries.map((entry) => outward(store, place, entry)), cursor: cursors.join('_') }
}

/** Where to begin. Who reads backwards begins in all of them at once: what is written later is not further back. */
async function placesOf(store: Partitions, { cursor, newest }: JournalQuery): Promise<readonly string[]> {
  if (!newest || cursor !== undefined) return split(cursor, START, POSITION, store.size)
  const ends = await placesBefore(store, Number.POSITIVE_INFINITY)
  return ends.map((end) => String(Number(end) + 1))
}

/** Each partition numbers its own; with its place, a number is unique in the store. */
const outward = ({ size }: Partitions, place: number, entry: JournalEntry): JournalEntry => ({
  ...entry,
  id: String(Number(entry.id) * size + place),
})
