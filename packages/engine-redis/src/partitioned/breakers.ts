// Circuit breakers in all partitions: each partition has its own, finds out for itself and sends its own probes. Shown is one
// per name, as it stands in the partition where it stands worst, with the actions of all. A reset goes to every partition.

import type { Breaker, BreakerState, By, Page, PageRequest } from '@reprise/core'
import { allBreakers, breakersOn, byName, pageOf, resetBreaker } from '../breakers.ts'
import type { DrawRequestId } from '../claim.ts'
import { journalOf } from '../journal.ts'
import type { Partitions } from './partitions.ts'

export async function listAllBreakers(store: Partitions, page: PageRequest = {}): Promise<Page<Breaker>> {
  return pageOf(merged(await store.each(allBreakers)), page)
}

/** Those that cover each of these actions in any partition, by name. */
export async function breakersOnAll(
  store: Partitions,
  actions: readonly string[],
): Promise<ReadonlyMap<string, readonly Breaker[]>> {
  const parts = await store.each((partition) => breakersOn(partition, actions))
  return new Map(actions.map((action) => [action, merged(parts.map((part) => part.get(action) ?? []))]))
}

const GRAVITY = { closed: 0, ramping: 1, half_open: 2, open: 3 } as const satisfies Record<
  BreakerState['status'],
  number
>

function merged(parts: readonly (readonly Breaker[])[]): Breaker[] {
  const found = new Map<string, Breaker>()
  for (const breaker of parts.flat()) {
    const known = found.get(breaker.name) ?? breaker
    const worst = GRAVITY[breaker.state.status] > GRAVITY[known.state.status] ? breaker : known
    found.set(breaker.name, { ...worst, actions: [...new Set([...known.actions, ...breaker.actions])] })
  }
  return [...found.values()].toSorted(byName)
}

/** False if no partition had such a breaker. The journal tells of it once. */
export async function resetBreakerIn(
  { home, all }: Partitions,
  name: string,
  by: By,
  drawRequestId: DrawRequestId,
): Promise<boolean> {
  const others = all.slice(1)
  const closed = await Promise.all(others.map((partition) => resetBreaker(partition, name, by, drawRequestId, false)))
  if (await resetBreaker(home, name, by, drawRequestId)) return true
  if (!closed.includes(true)) return false
  const { actor, reason } = by
  const entry = { type: 'breaker.closed', taskId: null, attempt: null, actor, reason, data: { breaker: name } } as const
  await journalOf(home, drawRequestId).append([entry])
  return true
}
