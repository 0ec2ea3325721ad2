// Pages of the journal for those who go over much of it: read a part at a time, so that others have their turn in between.

import type { Clock, Engine, JournalEntry } from '@reprise/core'
import { aTurn } from './in-turns.ts'

export const JOURNAL_PAGE_ENTRIES = 1_000
const READ_AT_ONCE = 100

interface JournalPage {
  readonly entries: readonly JournalEntry[]
  readonly cursor: string
  /** Whether more may follow. */
  readonly isFull: boolean
}

export async function journalPage(
  { journal }: Pick<Engine, 'journal'>,
  from: string,
  clock: Clock,
): Promise<JournalPage> {
  const entries: JournalEntry[] = []
  let cursor = from
  while (entries.length < JOURNAL_PAGE_ENTRIES) {
    await aTurn(clock)
    const part = await journal.read({ cursor, limit: READ_AT_ONCE })
    entries.push(...part.entries)
    cursor = part.cursor
    if (part.entries.length < READ_AT_ONCE) return { entries, cursor, isFull: false }
  }
  return { entries, cursor, isFull: true }
}
