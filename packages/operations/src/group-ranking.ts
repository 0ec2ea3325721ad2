// The largest failure groups first: what people want to know, and what needs a look at every group. With few groups each call
// looks. With many the order is kept for a moment, and made again beside the calls that use it: an order may then be some seconds
// old, and never keeps a caller waiting. What a page shows of its groups is always read anew.

import { type Clock, type Engine, type FailureGroup, type Page, turnsOf } from '@reprise/core'
import { given } from './given.ts'
import type { Families } from './group-views.ts'

const GROUPS_MAX = 10_000
/** How many groups are read at once: each has a failure with its stack. */
const STEP = 100
/** From this number on an order is kept. */
const KEPT_FROM = 500
const FRESH_MS = 1_000
const STALE_MS = 30_000
/** Orders of one store: by action, and of all. */
const ORDERS_MAX = 50

export type Sized = Pick<FailureGroup, 'count' | 'fingerprint' | 'action'>

interface Order {
  readonly madeAt: number
  readonly groups: readonly Sized[]
}

interface Kept {
  readonly order: Order
  refresh: Promise<Order> | null
}

/** The largest first; among equals by name, so that each has one place. */
export function bySize(one: Sized, other: Sized): number {
  if (one.count !== other.count) return other.count - one.count
  const [a, b] = [`${one.fingerprint} ${one.action}`, `${other.fingerprint} ${other.action}`]
  return a < b ? -1 : a > b ? 1 : 0
}

type Ranked = Pick<Engine, 'failureGroups'>
const keptBy = new WeakMap<object, Map<string, Kept>>()

/** All groups, merged ones as one, the largest first. */
export async function rankedGroups(
  engine: Ranked,
  clock: Clock,
  action: FailureGroup['action'] | undefined,
  families: Families,
): Promise<readonly Sized[]> {
  const orders = keptBy.get(engine) ?? new Map<string, Kept>()
  keptBy.set(engine, orders)
  const kept = orders.get(action ?? '')
  const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - kept.order.madeAt
  if (kept === undefined || ageMs > STALE_MS)
    return folded((await made(engine, clock, action, orders)).groups, families)
  if (ageMs > FRESH_MS && kept.refresh === null) {
    kept.refresh = made(engine, clock, action, orders)
    // The next caller tries again.
    kept.refresh.catch(() => {
      kept.refresh = null
    })
  }
  return folded(kept.order.groups, families)
}

async function made(
  engine: Ranked,
  clock: Clock,
  action: FailureGroup['action'] | undefined,
  orders: Map<string, Kept>,
): Promise<Order> {
  const turns = turnsOf(clock)
  const groups: Sized[] = []
  let cursor: string | null = null
  do {
    if (turns.isSpent) await turns.wait()
    const from: { readonly cursor?: string } = cursor === null ? {} : { cursor }
    const page: Page<FailureGroup> = await engine.failureGroups({ ...given({ action }), limit: STEP, ...from })
    for (const { count, fingerprint, action: its } of page.items) groups.push({ count, fingerprint, action: its })
    cursor = page.next
  } while (cursor !== null && groups.length < GROUPS_MAX)
  const order = { madeAt: clock.monotonic(), groups: groups.sort(bySize) }
  const name = action ?? ''
  orders.delete(name)
  if (groups.length >= KEPT_FROM) orders.set(name, { order, refresh: null })
  const [oldest] = orders.keys()
  if (orders.size > ORDERS_MAX && oldest !== undefined) orders.delete(oldest)
  return order
}

function folded(groups: readonly Sized[], families: Families): readonly Sized[] {
  if (groups.every(({ fingerprint }) => families.rootOf(fingerprint) === fingerprint)) return groups
  const roots = new Map<string, Sized>()
  for (const group of groups) {
    const root = families.rootOf(group.fingerprint) as FailureGroup['fingerprint']
    const known = roots.get(root)
    roots.set(root, { ...(known ?? group), fingerprint: root, count: group.count + (known?.count ?? 0) })
  }
  return [...roots.values()].sort(bySize)
}
