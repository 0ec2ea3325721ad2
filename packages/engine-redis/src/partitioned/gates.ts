// Holds in all partitions. The home has them first and loses them last, and its journal tells of them; somebody who dies on
// the way has left a hold that everybody sees, and that resuming lifts everywhere.

import type { By, Scope } from '@reprise/core'
import { given, lookUp, pause, resume, wholeHashes } from '../gates.ts'
import { everyHoldOf, factsOf, type GatesFacts, type GatesFound, namesCovering } from '../gates-facts.ts'
import type { LaneName } from '../names.ts'
import { breakersOnAll } from './breakers.ts'
import { liftEverywhere, type Partitions } from './partitions.ts'

const TOTALS = ['totals', 'ranks:totals'] as const
const PARTS = ['holds', 'slots', 'ranks:holds'] as const

export async function pauseAll({ home, all }: Partitions, scope: Scope, by: By): Promise<void> {
  await pause(home, scope, by)
  await Promise.all(all.slice(1).map((partition) => pause(partition, scope, by, false)))
}

/** False if no partition had such a hold. */
export function resumeAll(store: Partitions, scope: Scope, by: By): Promise<boolean> {
  const { actor, reason } = by
  const data = { ...given(scope) }
  const entry = { type: 'lanes.resumed', taskId: null, attempt: null, actor, reason, data } as const
  return liftEverywhere(store, (partition, isTold) => resume(partition, scope, by, isTold), entry)
}

/** The holds, limits and breakers that cover these lanes, with what runs under each limit in the whole store. */
export async function gatesFactsOf(store: Partitions, lanes: readonly LaneName[]): Promise<readonly GatesFacts[]> {
  if (lanes.length === 0) return []
  const names = namesCovering(lanes)
  const [totals, parts, breakers] = await Promise.all([
    lookUp(store.home, TOTALS, names),
    store.each((partition) => lookUp(partition, PARTS, names)),
    breakersOnAll(store, lanes),
  ])
  const found = foundIn(totals, parts)
  return lanes.map((lane, index) => factsOf(lane, found, breakers[index] ?? []))
}

/** Every hold and limit of the whole store. */
export async function everyHoldIn(store: Partitions): Promise<Pick<GatesFacts, 'holds' | 'limits'>> {
  const [totals, parts] = await Promise.all([
    wholeHashes(store.home, TOTALS),
    store.each((partition) => wholeHashes(partition, PARTS)),
  ])
  return everyHoldOf(foundIn(totals, parts))
}

type Hashes = readonly ReadonlyMap<string, string>[]

/** Put together from the limits of the whole store, and from what each partition has. */
function foundIn([limits, limitRanks]: Hashes, parts: readonly Hashes[]): GatesFound {
  const holds = new Map<string, string>()
  const holdRanks = new Map<string, string>()
  const running = new Map<string, number>()
  for (const [held, slots, ranks] of parts) {
    // The home comes first: its time is the time of the hold, and its rank the rank.
    for (const [name, text] of held ?? []) {
      if (holds.has(name)) continue
      holds.set(name, text)
      const rank = ranks?.get(name)
      if (rank !== undefined) holdRanks.set(name, rank)
    }
    for (const [name, count] of slots ?? []) running.set(name, (running.get(name) ?? 0) + Number(count))
  }
  const slots = new Map([...running].map(([name, count]) => [name, String(count)]))
  return { holds, limits, slots, holdRanks, limitRanks }
}
