// Circuit breakers in all partitions: each partition has its own, finds out for itself and sends its own probes. Shown is one
// per name, as it stands in the partition where it stands worst, with the actions of all. A reset goes to every partition.

import type { Breaker, BreakerState, By, Page, PageRequest } from '@reprise/core'
import { resetEntry } from '@reprise/core/engine'
import { allBreakers, breakersOn, byName, pageOf, resetBreaker } from '../breakers.ts'
import { liftEverywhere, type Partitions } from './partitions.ts'

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

/** False if no partition had such a breaker. */
export function resetBreakerIn(store: Partitions, name: string, by: By): Promise<boolean> {
  return liftEverywhere(store, (partition, isTold) => resetBreaker(partition, name, by, isTold), resetEntry(name, by))
}
