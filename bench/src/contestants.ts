// Who competes on which engine: where a side of the comparison becomes the code that is measured.

import type { EngineName } from './arguments.ts'
import { openBullMq } from './bullmq.ts'
import type { Side } from './figures.ts'
import { openLimitRedis } from './limit-redis.ts'
import { openLimitSqlite } from './limit-sqlite.ts'
import { openPlainjob } from './plainjob.ts'
import type { FullQueue, OpenFullQueue, OpenOptions, OpenQueue, QueueUnderTest } from './queue-under-test.ts'
import { openReprise } from './reprise.ts'
import type { Store } from './store.ts'

const OPEN: Readonly<Record<EngineName, Readonly<Record<Side, OpenQueue>>>> = {
  sqlite: { ours: openReprise, peer: openPlainjob, limit: openLimitSqlite },
  redis: { ours: openReprise, peer: openBullMq, limit: openLimitRedis },
}

/** A side that can do all a queue can. */
export type FullSide = Exclude<Side, 'limit'>

// plainjob has neither delays nor retries.
const OPEN_FULL: Readonly<Record<EngineName, Readonly<Partial<Record<FullSide, OpenFullQueue>>>>> = {
  sqlite: { ours: openReprise },
  redis: { ours: openReprise, peer: openBullMq },
}

export function fullSidesOf(engine: EngineName): readonly FullSide[] {
  return engine === 'sqlite' ? ['ours'] : ['ours', 'peer']
}

export function openQueue(store: Store, side: Side): Promise<QueueUnderTest> {
  return OPEN[store.engine][side](store)
}

export async function openFullQueue(store: Store, side: FullSide, options?: OpenOptions): Promise<FullQueue> {
  const open = OPEN_FULL[store.engine][side]
  if (open === undefined) throw new Error(`On ${store.engine}, '${side}' can't be measured with this.`)
  return open(store, options)
}
