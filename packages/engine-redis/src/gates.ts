// What holds lanes back: holds (paused) and limits (concurrency), each known by its exact scope. Where many lanes must be told
// of a change, it takes several steps; the store remembers what is left to do, should we die on the way.

import { type By, InvalidError, type Scope } from '@reprise/core'
import { outranked, rankOf } from '@reprise/core/engine'
import { OUTRANKED } from './layout.ts'
import type { Reply } from './link/link.ts'
import { asTexts, type Partition } from './partition.ts'
import { liftScript, limitScript, pauseScript, resumeScript } from './scripts.generated.ts'

/** `isTold`: the journal tells of it. In a store with several partitions one of them does. */
export async function pause(partition: Partition, scope: Scope, by: By, isTold = true): Promise<void> {
  const { actor, reason } = by
  const args = [...partsOf(scope), JSON.stringify({ actor, reason }), actor, reason, rankOf(by)]
  const answer = await partition.once(pauseScript, [...args, isTold ? JSON.stringify(given(scope)) : ''])
  await finish(partition, ranked('hold', scope, answer))
}

/** False if there was no hold on exactly this scope. */
export async function resume(partition: Partition, scope: Scope, by: By, isTold = true): Promise<boolean> {
  const data = isTold ? JSON.stringify(given(scope)) : ''
  const args = [...partsOf(scope), by.actor, by.reason, rankOf(by), data]
  const answer = ranked('hold', scope, await partition.once(resumeScript, args))
  if (Number(answer) === NOTHING_TO_LIFT) return false
  await finish(partition, answer)
  return true
}

export async function limit(partition: Partition, scope: Scope, concurrency: number | null, by: By): Promise<void> {
  const answer = await partition.once(limitScript, limitArguments(scope, concurrency, by))
  await finish(partition, ranked('limit', scope, answer))
}

export function limitArguments(scope: Scope, concurrency: number | null, by: By): string[] {
  if (concurrency !== null && (!Number.isSafeInteger(concurrency) || concurrency < 0)) {
    throw new InvalidError(`A limit is a whole number of running tasks, 0 or more, not ${concurrency}.`)
  }
  const data = JSON.stringify({ ...given(scope), concurrency })
  const text = concurrency === null ? '' : String(concurrency)
  return [...partsOf(scope), text, by.actor, by.reason, rankOf(by), data]
}

const NOTHING_TO_LIFT = -1
const ALL_TOLD = 1

/** The answer of a script that sets or lifts something, unless the platform set it and the caller is a tenant's. */
export function ranked(what: 'hold' | 'limit', scope: Scope, answer: Reply): Reply {
  if (Number(answer) === OUTRANKED) throw outranked(what, scope)
  return answer
}

/** Goes on until every lane was told. */
export async function finish(partition: Partition, answer: Reply): Promise<void> {
  if (Number(answer) === ALL_TOLD) return
  while (Number(await partition.run(liftScript, [])) > 0);
}

const partsOf = (scope: Scope): string[] => [scope.pool ?? '', scope.action ?? '', scope.tenant ?? '']

/** Only what is given. */
export function given({ pool, action, tenant }: Scope): Scope {
  return {
    ...(pool === undefined ? {} : { pool }),
    ...(action === undefined ? {} : { action }),
    ...(tenant === undefined ? {} : { tenant }),
  }
}

const NAMES_PER_COMMAND = 1_000

/** What these hashes have under these names. Most stores have hardly any gates: then nobody asks for names. */
export async function lookUp(
  partition: Partition,
  hashes: readonly string[],
  names: readonly string[],
): Promise<readonly ReadonlyMap<string, string>[]> {
  const sizes = await partition.pipeline(hashes.map((hash) => ['HLEN', partition.key(hash)]))
  const questions = hashes.flatMap((hash, index) => {
    if (Number(sizes[index] ?? 0) === 0) return []
    const chunks = Math.ceil(names.length / NAMES_PER_COMMAND)
    return Array.from({ length: chunks }, (_, chunk) => {
      const asked = names.slice(chunk * NAMES_PER_COMMAND, (chunk + 1) * NAMES_PER_COMMAND)
      return { index, asked, command: ['HMGET', partition.key(hash), ...asked] }
    })
  })
  const replies = await partition.pipeline(questions.map(({ command }) => command))
  const found = hashes.map(() => new Map<string, string>())
  questions.forEach(({ index, asked }, at) => {
    asTexts(replies[at]).forEach((text, place) => {
      const name = asked[place]
      if (text !== '' && name !== undefined) found[index]?.set(name, text)
    })
  })
  return found
}

/** All that these hashes have: there are never many holds and limits. */
export async function wholeHashes(
  partition: Partition,
  hashes: readonly string[],
): Promise<readonly ReadonlyMap<string, string>[]> {
  const replies = await partition.pipeline(hashes.map((hash) => ['HGETALL', partition.key(hash)]))
  return replies.map((reply) => {
    const fields = asTexts(reply)
    return new Map(fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? ''] as const] : [])))
  })
}
