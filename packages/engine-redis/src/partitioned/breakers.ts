// Circuit breakers in all partitions: each partition has its own, finds out for itself and sends its own probes. Shown is one
// per name and tenant, as it stands in the partition where it stands worst, with the actions of all. A reset goes to every
// partition.

import type { Breaker, BreakerQuery, BreakerState, By, Page, TenantId } from '@reprise/core'
import { breakerId, breakerPage, byBreakerId, isListed, isToReset, resetEntry } from '@reprise/core/engine'
import { allBreakers, breakersOn, resetOne } from '../breakers.ts'
import type { LaneName } from '../names.ts'
import { liftEverywhere, type Partitions } from './partitions.ts'

export async function listAllBreakers(store: Partitions, query?: BreakerQuery): Promise<Page<Breaker>> {
  const { breakers, now } = await inAll(store)
  return breakerPage(breakers, query, now)
}

async function inAll(store: Partitions): Promise<{ readonly breakers: readonly Breaker[]; readonly now: number }> {
  const parts = await store.each(allBreakers)
  return { breakers: merged(parts.map(({ breakers }) => breakers)), now: Math.max(...parts.map(({ now }) => now)) }
}

/** Those that cover each of these lanes in any partition, by id. */
export async function breakersOnAll(
  store: Partitions,
  lanes: readonly LaneName[],
): Promise<readonly (readonly Breaker[])[]> {
  const parts = await store.each((partition) => breakersOn(partition, lanes))
  return lanes.map((_, index) => merged(parts.map((part) => part[index] ?? [])))
}

const GRAVITY = { closed: 0, ramping: 1, half_open: 2, open: 3 } as const satisfies Record<
  BreakerState['status'],
  number
>

function merged(parts: readonly (readonly Breaker[])[]): Breaker[] {
  const found = new Map<string, Breaker>()
  for (const breaker of parts.flat()) {
    const known = found.get(breakerId(breaker)) ?? breaker
    const worst = GRAVITY[breaker.state.status] > GRAVITY[known.state.status] ? breaker : known
    found.set(breakerId(breaker), { ...worst, actions: [...new Set([...known.actions, ...breaker.actions])] })
  }
  return [...found.values()].toSorted(byBreakerId)
}

/** False if no partition had such a breaker. */
export async function resetBreakerIn(
  store: Partitions,
  name: string,
  by: By,
  tenants: readonly (TenantId | null)[] | undefined,
): Promise<boolean> {
  const { breakers, now } = await inAll(store)
  let isChanged = false
  for (const breaker of breakers.filter((one) => isToReset(one, name, tenants))) {
    if (!isListed(breaker, now)) await store.each((partition) => resetOne(partition, breaker, by, false))
    else if (
      await liftEverywhere(
        store,
        (partition, isTold) => resetOne(partition, breaker, by, isTold),
        resetEntry(breaker, by),
      )
    )
      isChanged = true
  }
  return isChanged
}
