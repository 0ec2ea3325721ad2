// The journals of all partitions read as one: merged by time, each entry once. A cursor holds the place in each of them, so a
// reader who follows it misses nothing, however late an entry of one comes after those of another. Entries from outside
// go to the partition of their task, those of no task to the home.

import {
  checkBatch,
  type Journal,
  type JournalEntry,
  type JournalPage,
  type JournalQuery,
  pageLimit,
} from '@reprise/core'
import type { DrawRequestId } from '../claim.ts'
import { journalOf, readJournal } from '../journal.ts'
import { merge, split } from './merge.ts'
import type { Partitions } from './partitions.ts'

export function journalOfAll(store: Partitions, drawRequestId: DrawRequestId): Journal {
  return {
    async append(entries) {
      checkBatch(entries.length)
      const places = new Map<number, (typeof entries)[number][]>()
      for (const entry of entries) {
        const place = entry.taskId === null ? 0 : store.placeOf(entry.taskId)
        places.set(place, [...(places.get(place) ?? []), entry])
      }
      await Promise.all([...places].map(([place, own]) => journalOf(store.at(place), drawRequestId).append(own)))
    },
    read: (query = {}) => (query.taskId === undefined ? readAll(store, query) : readTask(store, query.taskId, query)),
  }
}

const START = '0'
const POSITION = /^\d{1,15}$/

async function readAll(store: Partitions, query: JournalQuery): Promise<JournalPage> {
  const limit = pageLimit(query)
  const page = await merge<JournalEntry>(
    split(query.cursor, START, POSITION, store.size),
    limit,
    async (cursor, wanted, place) => {
      const { entries } = await readJournal(store.at(place), { cursor, limit: wanted })
      return entries.map((item) => ({ item, cursor: item.id }))
    },
    (a, b) => a.at < b.at,
  )
  return { entries: page.rows.map(({ item, place }) => outward(store, place, item)), cursor: page.cursor }
}

async function readTask(
  store: Partitions,
  taskId: NonNullable<JournalQuery['taskId']>,
  query: JournalQuery,
): Promise<JournalPage> {
  const cursors = [...split(query.cursor, START, POSITION, store.size)]
  const place = store.placeOf(taskId)
  const page = await readJournal(store.at(place), { taskId, limit: pageLimit(query), cursor: cursors[place] ?? START })
  cursors[place] = page.cursor
  return { entries: page.entries.map((entry) => outward(store, place, entry)), cursor: cursors.join('_') }
}

/** Each partition numbers its own; with its place, a number is unique in the store. */
const outward = ({ size }: Partitions, place: number, entry: JournalEntry): JournalEntry => ({
  ...entry,
  id: String(Number(entry.id) * size + place),
})
