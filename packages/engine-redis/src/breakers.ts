// Circuit breakers as the store keeps them: listing and resetting them, and which of them cover an action. How they change
// stands in the scripts, in the step of the settlement or claim that changes them.

import type { ActionName, Breaker, BreakerSettings, By, Page, PageRequest } from '@reprise/core'
import { isForgotten, pageLimit } from '@reprise/core/engine'
import { finish, lookUp } from './gates.ts'
import { asTexts, type Partition } from './partition.ts'
import { resetBreakerScript } from './scripts.generated.ts'

/** By name. A cursor is the name of the last one that was shown. */
export async function listBreakers(partition: Partition, page: PageRequest = {}): Promise<Page<Breaker>> {
  return pageOf(await allBreakers(partition), page)
}

/** There are never many: one for each action or dependency that failed lately. */
export async function allBreakers(partition: Partition): Promise<readonly Breaker[]> {
  const [now, reply] = await Promise.all([partition.now(), partition.command('HGETALL', partition.key('breakers'))])
  const fields = asTexts(reply)
  const found: Breaker[] = []
  for (let at = 0; at < fields.length; at += 2) found.push(parseBreaker(fields[at] ?? '', fields[at + 1] ?? ''))
  return found.filter((breaker) => !isForgotten(breaker, now))
}

export function pageOf(breakers: readonly Breaker[], page: PageRequest): Page<Breaker> {
  const limit = pageLimit(page)
  const { cursor = '' } = page
  const rest = breakers.filter(({ name }) => name > cursor).toSorted(byName)
  const items = rest.slice(0, limit)
  return { items, next: rest.length > limit ? (items.at(-1)?.name ?? null) : null }
}

export const byName = (a: Breaker, b: Breaker): number => (a.name < b.name ? -1 : 1)

/** Its settings, a line break, and the rest. */
function parseBreaker(name: string, text: string): Breaker {
  const stop = text.indexOf('\n')
  const { actions, state, buckets } = JSON.parse(text.slice(stop + 1)) as Pick<Breaker, 'actions' | 'state' | 'buckets'>
  return { name, settings: JSON.parse(text.slice(0, stop)) as BreakerSettings, actions, state, buckets }
}

/** Those that cover each of these actions, by name. */
export async function breakersOn(
  partition: Partition,
  actions: readonly string[],
): Promise<ReadonlyMap<string, readonly Breaker[]>> {
  const [covered = new Map<string, string>()] = await lookUp(partition, ['covered'], [...new Set(actions)])
  if (covered.size === 0) return new Map()
  const names = [...new Set([...covered.values()].flatMap((text) => text.split('\n')))]
  const [texts = new Map<string, string>()] = await lookUp(partition, ['breakers'], names)
  const breakers = [...texts].map(([name, text]) => parseBreaker(name, text)).toSorted(byName)
  return new Map(
    [...covered.keys()].map((action) => [action, breakers.filter((one) => one.actions.includes(action as ActionName))]),
  )
}

/** False if there is none of this name. `isTold`: the journal tells of it. In a store with several partitions one of them does. */
export async function resetBreaker(partition: Partition, name: string, by: By, isTold = true): Promise<boolean> {
  const args = [name, by.actor, by.reason, isTold ? '1' : '0']
  const answer = await partition.once(resetBreakerScript, args)
  if (Number(answer) === NO_SUCH_BREAKER) return false
  await finish(partition, answer)
  return true
}

const NO_SUCH_BREAKER = -1
