// Removes runs of runbooks that ended long ago: the journal still tells of them. By creation, a few at a time, and round again.

import { type Engine, isRepriseError } from '@reprise/core'
import { isRunOver, runsIn } from './run.ts'

const KEPT_MS = 90 * 86_400_000
const LOOKED_AT = 20

/** Goes on behind `place`. Where to go on the next time; null for the beginning. */
export async function removeOldRuns(
  engine: Pick<Engine, 'collection' | 'now'>,
  place: string | null,
): Promise<string | null> {
  const runs = runsIn(engine)
  const now = await engine.now()
  const { items, next } = await runs.list({ limit: LOOKED_AT, ...(place === null ? {} : { cursor: place }) })
  for (const { document, version } of items) {
    if (!isRunOver(document) || (document.endedAt ?? now) > now - KEPT_MS || document.untold.length > 0) continue
    await runs.remove(document.id, version).catch((error: unknown) => {
      // Another process does the same.
      if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    })
  }
  return next
}
