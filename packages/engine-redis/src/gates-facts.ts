// What holds lanes back now, for a reader: the holds, limits and breakers that cover them. It only looks; the verb that sets
// them is in gates.ts and in breakers.ts.

import type { Breaker, By, Rank, Scope } from '@reprise/core'
import type { ExplainFacts } from '@reprise/core/engine'
import { breakersOn } from './breakers.ts'
import { lookUp, wholeHashes } from './gates.ts'
import type { LaneName } from './names.ts'
import { type Partition, scopeName } from './partition.ts'

/** The holds and the limits that cover a lane, each by scope: what is not given comes first; and the breakers, by name. */
export type GatesFacts = Pick<ExplainFacts, 'holds' | 'limits' | 'breakers'>

const LOOKED = ['holds', 'limits', 'slots', 'ranks:holds', 'ranks:limits'] as const

export const NO_GATES: GatesFacts = { holds: [], limits: [], breakers: [] }

export async function gatesFacts(partition: Partition, lane: LaneName): Promise<GatesFacts> {
  const [facts] = await gatesFactsOf(partition, [lane])
  return facts ?? NO_GATES
}

/** For many lanes at once, in their order. */
export async function gatesFactsOf(partition: Partition, lanes: readonly LaneName[]): Promise<readonly GatesFacts[]> {
  const [[holds, limits, slots, holdRanks, limitRanks], breakers] = await Promise.all([
    lookUp(partition, LOOKED, namesCovering(lanes)),
    breakersOn(partition, lanes),
  ])
  const found = { holds, limits, slots, holdRanks, limitRanks }
  return lanes.map((lane, index) => factsOf(lane, found, breakers[index] ?? []))
}

/** Every scope that covers one of these lanes, by name. */
export const namesCovering = (lanes: readonly LaneName[]): string[] => [
  ...new Set(lanes.flatMap(scopesOf).map(scopeName)),
]

/** What the store has under the names of scopes. */
type Found = ReadonlyMap<string, string> | undefined

/** Holds, limits and how many tasks run under each. */
export interface GatesFound {
  readonly holds: Found
  readonly limits: Found
  readonly slots: Found
  /** What is not there is the platform's. */
  readonly holdRanks: Found
  readonly limitRanks: Found
}

export function factsOf(lane: LaneName, found: GatesFound, breakers: readonly Breaker[]): GatesFacts {
  return { ...holdsOn(scopesOf(lane), found), breakers }
}

/** What is on exactly these scopes, in their order. */
function holdsOn(
  scopes: readonly Scope[],
  { holds, limits, slots, holdRanks, limitRanks }: GatesFound,
): Pick<GatesFacts, 'holds' | 'limits'> {
  return {
    holds: scopes.flatMap((scope) => {
      const name = scopeName(scope)
      const text = holds?.get(name)
      return text === undefined ? [] : [{ scope, ...parseHold(text), rank: rankIn(holdRanks, name) }]
    }),
    limits: scopes.flatMap((scope) => {
      const name = scopeName(scope)
      const concurrency = limits?.get(name)
      if (concurrency === undefined) return []
      const running = Number(slots?.get(name) ?? 0)
      return [{ scope, running, concurrency: Number(concurrency), rank: rankIn(limitRanks, name) }]
    }),
  }
}

/** Every hold and limit of the store. */
export async function everyHold(partition: Partition): Promise<Pick<GatesFacts, 'holds' | 'limits'>> {
  const [holds, limits, slots, holdRanks, limitRanks] = await wholeHashes(partition, LOOKED)
  return everyHoldOf({ holds, limits, slots, holdRanks, limitRanks })
}

export function everyHoldOf(found: GatesFound): Pick<GatesFacts, 'holds' | 'limits'> {
  const names = new Set([...(found.holds?.keys() ?? []), ...(found.limits?.keys() ?? [])])
  return holdsOn([...names].filter((name) => !name.startsWith(OF_BREAKERS)).map(scopeOfName), found)
}

/** What breakers hold and limit stands beside what operators do, as if in a pool of this name: see lua/include/lanes.lua. */
const OF_BREAKERS = '\r\n'

function scopeOfName(name: string): Scope {
  const [pool = '', action = '', tenant = ''] = name.split('\n')
  return {
    ...(pool === '' ? {} : { pool }),
    ...(action === '' ? {} : { action }),
    ...(tenant === '' ? {} : { tenant }),
  } as Scope
}

const rankIn = (ranks: Found, name: string): Rank => (ranks?.has(name) === true ? 'tenant' : 'platform')

/** Every scope that covers a lane; sorted by pool, action and tenant, because what is not given sorts before any name. */
function scopesOf({ pool, action, tenant }: LaneName): Scope[] {
  const scopes: Scope[] = []
  for (const inPool of [{}, { pool }]) {
    for (const ofAction of [{}, { action }]) {
      for (const ofTenant of [{}, { tenant }]) scopes.push({ ...inPool, ...ofAction, ...ofTenant } as Scope)
    }
  }
  return scopes
}

function parseHold(text: string): { readonly by: By; readonly since: number } {
  const blank = text.indexOf(' ')
  return { by: JSON.parse(text.slice(blank + 1)) as By, since: Number(text.slice(0, blank)) }
}
