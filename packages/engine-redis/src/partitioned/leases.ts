// Settling, renewing and finding what is past its time, each in the partition of its task, all at once.

import type { ExpiredResult, Overdue, RenewRequest, RenewResult, Settlement, VouchRequest } from '@reprise/core'
import { checkBatch, checkLeaseMs, checkLimit, type VouchResult } from '@reprise/core/engine'
import { expired, renew } from '../leases.ts'
import { type Settled, settleThere } from '../settle.ts'
import { vouch } from '../vouch.ts'
import { inwardToken, outwardToken, type Partitions } from './partitions.ts'

/** Settlements with tokens as their partition knows them. */
export function inward(place: number, settlements: readonly Settlement[]): Settlement[] {
  return settlements.map((settlement) => {
    if (settlement.kind === 'expired') return settlement
    return { ...settlement, ref: { ...settlement.ref, token: inwardToken(place, settlement.ref.token) } }
  })
}

export function settleAll(store: Partitions, settlements: readonly Settlement[]): Promise<readonly Settled[]> {
  return store.inOrder(
    settlements,
    ({ ref }) => ref.taskId,
    ({ partition, place, items }) => settleThere(partition, inward(place, items)),
  )
}

export async function renewAll(
  store: Partitions,
  leases: readonly RenewRequest[],
  leaseMs: number,
): Promise<readonly RenewResult[]> {
  checkBatch(leases.length)
  checkLeaseMs(leaseMs)
  return store.inOrder(
    leases,
    ({ taskId }) => taskId,
    ({ partition, place, items }) =>
      renew(
        partition,
        items.map((lease) => ({ ...lease, token: inwardToken(place, lease.token) })),
        leaseMs,
      ),
  )
}

/** A worker's leases may be anywhere. */
export async function vouchInAll(store: Partitions, request: VouchRequest): Promise<VouchResult> {
  const outcomes = await store.each((partition) => vouch(partition, request))
  return { renewed: outcomes.reduce((sum, { renewed }) => sum + renewed, 0) }
}

/** Leases first, then queue entries. What can be reached is answered as long as there is anything. */
export async function expiredIn(store: Partitions, limit: number): Promise<ExpiredResult> {
  checkLimit(limit)
  const outcomes = await Promise.allSettled(store.all.map((partition) => expired(partition, limit)))
  const refused = outcomes.find((outcome) => outcome.status === 'rejected')
  const found = outcomes.flatMap((outcome, place) => {
    if (outcome.status === 'rejected') return []
    const overdue = outcome.value.overdue.map((item) => outward(place, item))
    return [{ ...outcome.value, overdue }]
  })
  const all = found.flatMap(({ overdue }) => overdue).toSorted(inOrder)
  if (refused !== undefined && all.length === 0) throw refused.reason
  return {
    overdue: all.slice(0, limit),
    now: Math.max(...found.map(({ now }) => now)),
    // Any of them may have been away.
    steadySince: Math.max(...found.map(({ steadySince = 0 }) => steadySince)),
  }
}

const isEntry = ({ kind }: Overdue): boolean => kind === 'queue_ttl' || kind === 'deadline'

const inOrder = (a: Overdue, b: Overdue): number => Number(isEntry(a)) - Number(isEntry(b)) || a.since - b.since

function outward(place: number, overdue: Overdue): Overdue {
  if (overdue.kind !== 'lease' && overdue.kind !== 'timeout' && overdue.kind !== 'undelivered') return overdue
  return { ...overdue, ref: { ...overdue.ref, token: outwardToken(place, overdue.ref.token) } }
}
