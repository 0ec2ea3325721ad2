// The largest failure groups first: what people want to know, and what needs a look at every group. With few groups each call
// looks. With many the order is kept for a moment, and made again beside the calls that use it: an order may then be some seconds
// old, and keeps only the first caller waiting. Calls at the same moment share one look. The more groups there are, the longer
// an order is kept, so that looking never takes more than a part of the time. What a page shows of its groups is always read anew.

import { type Clock, type Engine, type FailureGroup, type Page, turnsOf } from '@reprise/core'
import { given } from './given.ts'
import type { Families } from './group-views.ts'

const GROUPS_MAX = 100_000
/** How often the front is looked at again at most. */
const LOOKS_MAX = 4
/** How many groups are read at once: each has a failure with its stack. */
const STEP = 100
/** From this number on an order is kept. */
const KEPT_FROM = 500
const FRESH_MS = 1_000
/** An order is kept for at least this many times as long as it took to make. */
const FRESH_FACTOR = 5
const STALE_MS = 30_000
/** Orders of one store: by action, and of all. */
const ORDERS_MAX = 50

export type Sized = Pick<FailureGroup, 'count' | 'fingerprint' | 'action'>

interface Order {
  readonly madeAt: number
  readonly tookMs: number
  readonly groups: readonly Sized[]
}

interface Kept {
  /** Null until the first look is over. */
  order: Order | null
  /** The look that is under way. */
  look: Promise<Order> | null
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
  const name = action ?? ''
  const kept = orders.get(name) ?? { order: null, look: null }
  orders.set(name, kept)
  const { order } = kept
  const ageMs = order === null ? Number.POSITIVE_INFINITY : clock.monotonic() - order.madeAt
  const freshMs = Math.max(FRESH_MS, FRESH_FACTOR * (order?.tookMs ?? 0))
  if (order !== null && ageMs <= freshMs) return folded(order.groups, families)
  kept.look ??= looked(engine, clock, action, orders, kept)
  if (order === null || ageMs > Math.max(STALE_MS, freshMs)) return folded((await kept.look).groups, families)
  // Beside this call. The next one tries again if it fails.
  kept.look.catch(() => undefined)
  return folded(order.groups, families)
}

/** An order, which is kept if there are many groups. */
async function looked(
  engine: Ranked,
  clock: Clock,
  action: FailureGroup['action'] | undefined,
  orders: Map<string, Kept>,
  kept: Kept,
): Promise<Order> {
  const name = action ?? ''
  let isKept = false
  try {
    const order = await made(engine, clock, action)
    isKept = order.groups.length >= KEPT_FROM
    kept.order = order
    return order
  } catch (error) {
    isKept = kept.order !== null
    throw error
  } finally {
    kept.look = null
    // What was kept last is at the end.
    orders.delete(name)
    if (isKept) orders.set(name, kept)
    const [oldest] = orders.keys()
    if (orders.size > ORDERS_MAX && oldest !== undefined) orders.delete(oldest)
  }
}

/**
 * Looks at all groups, the most recent first. One of which another task dies meanwhile comes to the front, where this look has
 * been: so the front is looked at again, for as long as much has changed there.
 */
async function made(engine: Ranked, clock: Clock, action: FailureGroup['action'] | undefined): Promise<Order> {
  const beganAt = clock.monotonic()
  const groups = new Map<string, Sized>()
  let since = Number.NEGATIVE_INFINITY
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const { newestAt, pages } = await look(engine, clock, action, since, groups)
    if (pages <= 1) break
    since = newestAt
  }
  const madeAt = clock.monotonic()
  return { madeAt, tookMs: madeAt - beganAt, groups: [...groups.values()].sort(bySize) }
}

/** Adds the groups that somebody died of at this moment or later. */
async function look(
  engine: Ranked,
  clock: Clock,
  action: FailureGroup['action'] | undefined,
  since: number,
  groups: Map<string, Sized>,
): Promise<{ readonly newestAt: number; readonly pages: number }> {
  const turns = turnsOf(clock)
  let newestAt = since
  let cursor: string | null = null
  for (let pages = 1; ; pages++) {
    if (turns.isSpent) await turns.wait()
    const from: { readonly cursor?: string } = cursor === null ? {} : { cursor }
    const page: Page<FailureGroup> = await engine.failureGroups({ ...given({ action }), limit: STEP, ...from })
    for (const { count, fingerprint, action: its, lastAt } of page.items) {
      groups.set(`${fingerprint} ${its}`, { count, fingerprint, action: its })
      newestAt = Math.max(newestAt, lastAt)
    }
    cursor = page.next
    const oldestAt = page.items.at(-1)?.lastAt ?? since
    if (cursor === null || oldestAt < since || groups.size >= GROUPS_MAX) return { newestAt, pages }
  }
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
