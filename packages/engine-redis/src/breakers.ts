// Circuit breakers as the store keeps them: listing and resetting them, and which of them cover an action. How they change
// stands in the scripts, in the step of the settlement or claim that changes them.

import type { Breaker, BreakerQuery, BreakerSettings, By, Page, TenantId } from '@reprise/core'
import {
  type BreakerKey,
  breakerId,
  breakerPage,
  byBreakerId,
  covers,
  isForgotten,
  isListed,
  isToReset,
  parseSettings,
} from '@reprise/core/engine'
import { finish, lookUp } from './gates.ts'
import type { LaneName } from './names.ts'
import { asTexts, type Partition } from './partition.ts'
import { resetBreakerScript } from './scripts.generated.ts'

export async function listBreakers(partition: Partition, query?: BreakerQuery): Promise<Page<Breaker>> {
  const { breakers, now } = await allBreakers(partition)
  return breakerPage(breakers, query, now)
}

export interface BreakersFound {
  readonly breakers: readonly Breaker[]
  readonly now: number
}

/** There are never many: see BREAKERS_MAX. */
export async function allBreakers(partition: Partition): Promise<BreakersFound> {
  const [now, reply] = await Promise.all([partition.now(), partition.command('HGETALL', partition.key('breakers'))])
  const fields = asTexts(reply)
  const found: Breaker[] = []
  for (let at = 0; at < fields.length; at += 2) found.push(parseBreaker(fields[at] ?? '', fields[at + 1] ?? ''))
  return { breakers: found.filter((breaker) => !isForgotten(breaker, now)), now }
}

/** Its settings, a line break, and the rest. One of an earlier version has no voices. */
function parseBreaker(id: string, text: string): Breaker {
  const stop = text.indexOf('\n')
  const rest = JSON.parse(text.slice(stop + 1)) as Pick<Breaker, 'actions' | 'state' | 'buckets'> & Partial<Breaker>
  const { actions, state, buckets, voices = [] } = rest
  const settings = parseSettings<BreakerSettings>(text.slice(0, stop))
  const [name = '', tenant] = id.split('\n')
  return { name, tenant: (tenant ?? null) as TenantId | null, settings, actions, state, buckets, voices }
}

/** What breakers look at of a lane. */
type LaneOfBreakers = Pick<LaneName, 'action' | 'tenant'>

/** Those that cover each of these lanes, by id. */
export async function breakersOn(
  partition: Partition,
  lanes: readonly LaneOfBreakers[],
): Promise<readonly (readonly Breaker[])[]> {
  const places = [...new Set(lanes.flatMap(({ action, tenant }) => [action, `${action}\n${tenant}`]))]
  const [covered = new Map<string, string>()] = await lookUp(partition, ['covered'], places)
  if (covered.size === 0) return lanes.map(() => [])
  const [texts = new Map<string, string>()] = await lookUp(partition, ['breakers'], [...new Set(idsIn(covered))])
  const breakers = [...texts].map(([id, text]) => parseBreaker(id, text)).toSorted(byBreakerId)
  return lanes.map((lane) => breakers.filter((breaker) => covers(breaker, lane)))
}

/** A place names its breakers; their tenant is that of the place. */
function* idsIn(covered: ReadonlyMap<string, string>): Generator<string> {
  for (const [place, names] of covered) {
    const [, tenant = null] = place.split('\n')
    for (const name of names.split('\n')) yield breakerId({ name, tenant: tenant as TenantId | null })
  }
}

/** False if there is none of this name. */
export async function resetBreaker(
  partition: Partition,
  name: string,
  by: By,
  tenants: readonly (TenantId | null)[] | undefined,
): Promise<boolean> {
  const { breakers, now } = await allBreakers(partition)
  let isChanged = false
  for (const breaker of breakers.filter((one) => isToReset(one, name, tenants)).toSorted(byBreakerId)) {
    const isShown = isListed(breaker, now)
    if ((await resetOne(partition, breaker, by, isShown)) && isShown) isChanged = true
  }
  return isChanged
}

/** `isTold`: the journal tells of it. In a store with several partitions one of them does. */
export async function resetOne(partition: Partition, key: BreakerKey, by: By, isTold: boolean): Promise<boolean> {
  const args = [breakerId(key), by.actor, by.reason, isTold ? '1' : '0']
  const answer = await partition.once(resetBreakerScript, args)
  if (Number(answer) === NO_SUCH_BREAKER) return false
  await finish(partition, answer)
  return true
}

const NO_SUCH_BREAKER = -1
