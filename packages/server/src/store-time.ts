// What time it is in the store: the only clock that decides about tasks.

import { DEFAULT_POOL, type Engine } from '@reprise/core'

/** The cheapest question whose answer tells it. */
export async function storeTime(engine: Engine): Promise<number> {
  const { now } = await engine.launches({ pool: DEFAULT_POOL, limit: 1 })
  return now
}
