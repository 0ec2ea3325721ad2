// Failure groups for a caller who is limited to tenants: of the own dead letters alone. Cases, notes, merges and trends are about
// all tenants together, and versions and hosts about workers, so they stay out. A cause that only others have is not there.

import { countTasks, type FailureGroup, type Fingerprint, NotFoundError, parseQuery, type Task } from '@reprise/core'
import type { Caller } from './access/caller.ts'
import type { Context } from './context.ts'
import { askedFilter, inStatus, lookOf } from './found.ts'
import { sightOf } from './sight.ts'
import { failureView } from './views.ts'

/** Dead letters of one group that are looked at. */
const SAMPLE = 200

/** The own dead letters that a query finds, or those of an action. */
export function ownLetters(q: string | undefined, action: FailureGroup['action'] | undefined, caller: Caller) {
  const { filter } = askedFilter(q ?? '', caller)
  const dead = inStatus(filter, ['dead'])
  if (action === undefined) return dead
  return {
    ...dead,
    terms: [...dead.terms, { negated: false, condition: { kind: 'name', field: 'action', globs: [action] } as const }],
  }
}

interface OwnLetters {
  readonly count: number
  readonly isExact: boolean
  readonly tasks: readonly Task[]
}

/** How many of the own dead letters have this cause, and the newest of them; `NotFoundError` if none has. */
export async function ownLettersOf(context: Context, caller: Caller, fingerprint: string): Promise<OwnLetters> {
  // A fingerprint is hexadecimal; anything else could mean more in a query.
  if (!/^[0-9a-f]+$/.test(fingerprint)) throw new NotFoundError('failure group', fingerprint)
  const { count, samples, next } = await context.searches.run(caller, () =>
    countTasks(context.engine, parseQuery(`status:dead fingerprint:${fingerprint}`), {
      ...lookOf(context, caller),
      samples: SAMPLE,
    }),
  )
  if (count === 0) throw new NotFoundError('failure group', fingerprint)
  return { count, isExact: next === null, tasks: samples }
}

const diedAt = ({ state, acceptedAt }: Task): number => (state.status === 'dead' ? state.at : acceptedAt)

/** The group as its own dead letters show it. */
export function ownGroupOf(context: Context, caller: Caller, fingerprint: string, { count, tasks }: OwnLetters) {
  const [latest] = tasks.toSorted((one, other) => diedAt(other) - diedAt(one))
  if (latest?.state.status !== 'dead') throw new NotFoundError('failure group', fingerprint)
  return {
    fingerprint: fingerprint as Fingerprint,
    action: latest.action,
    count,
    firstAt: Math.min(...tasks.map(diedAt)),
    lastAt: diedAt(latest),
    lastTask: latest.id,
    sample: failureView(latest.state.failure, sightOf(context, caller)),
    notes: [],
    trend: [],
    versions: [],
    hosts: [],
    workers: [],
    chains: [],
  }
}
