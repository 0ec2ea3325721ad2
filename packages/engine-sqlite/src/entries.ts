// Queue entries as a claim reads them, and how one becomes a lease. Which entry is next is the claim's business.

import type { Claimed, JsonText, Priority, RetryToken, TaskId, WaitReason } from '@reprise/core'
import { claimOrder } from '@reprise/core/engine'
import type { Lane } from './lane.ts'
import type { LeaseStarter } from './lease-starter.ts'
import { labelsOf } from './rows.ts'
import type { Transaction } from './transaction.ts'

/** A row of nextEntries and oldestEntry: queue entry and task together, in column order. */
export type EntryRow = readonly [
  seq: number,
  rank: number,
  expires: number | null,
  id: TaskId,
  payload: JsonText | null,
  profile: number,
  priority: Priority,
  generation: number,
  attempt: number,
  failures: number,
  losses: number,
  acceptedAt: number,
  deadlineAt: number | null,
  retryReason: WaitReason | null,
  retryToken: RetryToken | null,
  dedupeKey: string | null,
  labels: string | null,
  parks: number,
  deferrals: number,
  /** When it entered the queue; null for one that was never tried. */
  since: number | null,
]

export const entryRank = (entry: EntryRow): number => entry[1]
export const entryPlace = (entry: EntryRow): number => claimOrder(entry[6])

/** In lane time; null if it may wait for ever. */
const entryExpires = (entry: EntryRow): number | null => entry[2]

/** A deadline binds the first generation only. */
const entryDeadline = (entry: EntryRow): number | null => (entry[7] === 1 ? entry[12] : null)

export function isOverdue(transaction: Transaction, entry: EntryRow, lane: Lane): boolean {
  const expires = entryExpires(entry)
  const deadline = entryDeadline(entry)
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
  const [
    seq,
    ,
    ,
    id,
    payload,
    profile,
    priority,
    generation,
    attempt,
    failures,
    losses,
    acceptedAt,
    deadlineAt,
    retryReason,
    retryToken,
    dedupeKey,
    labels,
    parks,
    deferrals,
  ] = entry
  const settings = transaction.profiles.settingsOf(profile)
  const lease = leases.start(lane, { seq, id, attempt: attempt + 1, from: 'queued', settings })
  return {
    ...lease,
    snapshot: {
      id,
      action: lane.action as Claimed['snapshot']['action'],
      pool: lane.pool as Claimed['snapshot']['pool'],
      tenant: lane.tenant as Claimed['snapshot']['tenant'],
      payload: payload ?? longPayload(transaction, seq),
      labels: labelsOf(labels),
      priority,
      settings,
      retryToken: retryToken ?? (id as string as RetryToken),
      dedupeKey,
      deadlineAt,
    },
    generation,
    failures,
    losses,
    parks,
    deferrals,
    retryReason,
    acceptedAt,
  }
}

function longPayload(transaction: Transaction, seq: number): JsonText {
  const row = transaction.db.get<{ payload: JsonText }>('longPayload', seq)
  if (row === undefined) throw new Error(`The payload of task number ${seq} is missing.`)
  return row.payload
}
