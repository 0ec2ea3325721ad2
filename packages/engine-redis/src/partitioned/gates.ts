// Holds in all partitions. The home has them first and loses them last, and its journal tells of them; somebody who dies on
// the way has left a hold that everybody sees, and that resuming lifts everywhere.

import type { By, Scope } from '@reprise/core'
import type { DrawRequestId } from '../claim.ts'
import { given, lookUp, pause, resume } from '../gates.ts'
import { actionOf, factsOf, type GatesFacts, namesCovering } from '../gates-facts.ts'
import { journalOf } from '../journal.ts'
import type { LaneName } from '../names.ts'
import { breakersOnAll } from './breakers.ts'
import type { Partitions } from './partitions.ts'

export async function pauseAll(
  { home, all }: Partitions,
  scope: Scope,
  by: By,
  drawRequestId: DrawRequestId,
): Promise<void> {
  await pause(home, scope, by, drawRequestId)
  await Promise.all(all.slice(1).map((partition) => pause(partition, scope, by, drawRequestId, false)))
}

/** False if no partition had such a hold. */
export async function resumeAll(
  { home, all }: Partitions,
  scope: Scope,
  by: By,
  drawRequestId: DrawRequestId,
): Promise<boolean> {
  const lifted = await Promise.all(all.slice(1).map((partition) => resume(partition, scope, by, drawRequestId, false)))
  if (await resume(home, scope, by, drawRequestId)) return true
  if (!lifted.includes(true)) return false
  // A pause and a resume at the same time had left some behind.
  const { actor, reason } = by
  const entry = {
    type: 'lanes.resumed',
    taskId: null,
    attempt: null,
    actor,
    reason,
    data: { ...given(scope) },
  } as const
  await journalOf(home, drawRequestId).append([entry])
  return true
}

/** The holds, limits and breakers that cover these lanes, with what runs under each limit in the whole store. */
export async function gatesFactsOf(store: Partitions, lanes: readonly LaneName[]): Promise<readonly GatesFacts[]> {
  if (lanes.length === 0) return []
  const names = namesCovering(lanes)
  const [totals, parts, breakers] = await Promise.all([
    lookUp(store.home, ['totals'], names),
    store.each((partition) => lookUp(partition, ['holds', 'slots'], names)),
    breakersOnAll(store, [...new Set(lanes.map(actionOf))]),
  ])
  const holds = new Map<string, string>()
  const running = new Map<string, number>()
  for (const [held, slots] of parts) {
    // The home comes first: its time is the time of the hold.
    for (const [name, text] of held ?? []) if (!holds.has(name)) holds.set(name, text)
    for (const [name, count] of slots ?? []) running.set(name, (running.get(name) ?? 0) + Number(count))
  }
  const slots = new Map([...running].map(([name, count]) => [name, String(count)]))
  return lanes.map((lane) => factsOf(lane, { holds, limits: totals[0], slots, breakers }))
}
