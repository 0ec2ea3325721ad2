// Queue entries as a claim reads them, and how one becomes a lease. Which entry is next is the claim's business.

import type { Claimed, JsonText, RetryToken } from '@reprise/core'
import { claimOrder } from '@reprise/core/engine'
import type { RowOf } from './database.ts'
import type { Lane } from './lane.ts'
import type { LeaseStarter } from './lease-starter.ts'
import { labelsOf, type TaskRow } from './rows.ts'
import { columns } from './sql.generated.ts'
import type { Transaction } from './transaction.ts'

export const ENTRY = columns.nextEntries

/** A row of nextEntries and oldestEntry: queue entry and task together. */
export type EntryRow = RowOf<
  typeof ENTRY,
  Omit<TaskRow, 'rank' | 'payload' | 'since'> & {
    readonly rank: number
    /** Null for a long one, which has a row of its own. */
    readonly payload: JsonText | null
    /** When it entered the queue; null for one that was never tried. */
    readonly since: number | null
  }
>

export const entryRank = (entry: EntryRow): number => entry[ENTRY.rank]
export const entryPlace = (entry: EntryRow): number => claimOrder(entry[ENTRY.priority])

export function isOverdue(transaction: Transaction, entry: EntryRow, lane: Lane): boolean {
  const expires = entry[ENTRY.expires]
  // A deadline binds the first generation only.
  const deadline = entry[ENTRY.generation] === 1 ? entry[ENTRY.deadline_at] : null
  return (
    (expires !== null && transaction.laneTime(lane) >= expires) || (deadline !== null && transaction.now >= deadline)
  )
}

/** Puts an entry where no claim finds it; the sweep will. */
export function retire(transaction: Transaction, entry: EntryRow, lane: Lane): void {
  transaction.db.run('retireEntry', lane.id, entryPlace(entry), entryRank(entry))
}

/** Reserves the next attempt of an entry's task and starts its lease. The entry itself is the caller's to delete. */
export function reserveEntry(transaction: Transaction, lane: Lane, entry: EntryRow, leases: LeaseStarter): Claimed {
  const seq = entry[ENTRY.seq]
  const id = entry[ENTRY.id]
  const settings = transaction.profiles.settingsOf(entry[ENTRY.profile])
  const lease = leases.start(lane, { seq, id, attempt: entry[ENTRY.attempt] + 1, from: 'queued', settings })
  const policy = entry[ENTRY.policy]
  const claimed: Claimed = {
    ...lease,
    snapshot: {
      id,
      action: lane.action as Claimed['snapshot']['action'],
      pool: lane.pool as Claimed['snapshot']['pool'],
      tenant: lane.tenant as Claimed['snapshot']['tenant'],
      payload: entry[ENTRY.payload] ?? longPayload(transaction, seq),
      labels: labelsOf(entry[ENTRY.labels]),
      priority: entry[ENTRY.priority],
      settings,
      retryToken: entry[ENTRY.retry_token] ?? (id as string as RetryToken),
      dedupeKey: entry[ENTRY.dedupe_key],
      deadlineAt: entry[ENTRY.deadline_at],
    },
    generation: entry[ENTRY.generation],
    failures: entry[ENTRY.failures],
    losses: entry[ENTRY.losses],
    parks: entry[ENTRY.parks],
    deferrals: entry[ENTRY.deferrals],
    retryReason: entry[ENTRY.retry_reason],
    acceptedAt: entry[ENTRY.accepted_at],
  }
  return policy === null ? claimed : { ...claimed, policy }
}

function longPayload(transaction: Transaction, seq: number): JsonText {
  const row = transaction.db.get<{ text: JsonText }>('longPayload', seq)
  if (row === undefined) throw new Error(`The payload of task number ${seq} is missing.`)
  return row.text
}
