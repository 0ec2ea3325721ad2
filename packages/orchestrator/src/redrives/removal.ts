// Removes redrives that nobody looks at any more, with their items: ended ones after a month, plans that were never started after
// a week. Of a tenant's callers only so many that ended are kept: else planning and aborting would fill the store. The journal still has
// them.

import { allPages, type Engine, isRepriseError, type Stored } from '@reprise/core'
import { chunkId, chunksIn } from './chunk.ts'
import { holderOf, isOver, type RedriveDocument, redrivesIn } from './redrive.ts'

const ENDED_KEPT_MS = 30 * 86_400_000
const PLANS_KEPT_MS = 7 * 86_400_000
/** In one go; the rest waits for the next. */
const LOOKED_AT_MAX = 1_000
/** Of callers with the same tenants, open ones included. */
const KEPT_MAX = 50
/** Of callers for the whole store, of whom nothing is removed early. */
const OPEN_SEEN_MAX = 200

export async function removeOld(engine: Engine): Promise<number> {
  const redrives = redrivesIn(engine)
  const now = await engine.now()
  const { items } = await allPages((page) => redrives.list(page), LOOKED_AT_MAX)
  let removed = 0
  for (const stored of items) if (isOld(stored.document, now) && (await removeOne(engine, stored))) removed++
  return removed
}

/**
 * Makes room for one more of this holder: its oldest that ended goes, if it has too many. Answers how many of its redrives are
 * not over.
 */
export async function makeRoom(engine: Engine, redrive: Pick<RedriveDocument, 'tenants'>): Promise<number> {
  const isLimited = redrive.tenants !== null
  const query = {
    index: isLimited ? 'holder' : 'open',
    value: holderOf(redrive),
    limit: isLimited ? KEPT_MAX : OPEN_SEEN_MAX,
  }
  const { items } = await redrivesIn(engine).find(query)
  const oldest = items.length < KEPT_MAX ? undefined : items.find(({ document }) => isOver(document))
  if (oldest !== undefined) await removeOne(engine, oldest)
  return items.filter(({ document }) => !isOver(document)).length
}

/** Its items go first: a redrive whose items are gone is removed by the next who tries. */
async function removeOne(engine: Engine, { document, version }: Stored<RedriveDocument>): Promise<boolean> {
  const chunks = chunksIn(engine)
  for (let at = 0; at < document.chunks; at++) await chunks.remove(chunkId(document.id, at))
  try {
    return await redrivesIn(engine).remove(document.id, version)
  } catch (error) {
    // Somebody else took it up, or removes it too.
    if (isRepriseError(error, 'REPRISE_CONFLICT')) return false
    throw error
  }
}

function isOld(redrive: RedriveDocument, now: number): boolean {
  if (isOver(redrive)) return now - (redrive.endedAt ?? now) > ENDED_KEPT_MS
  return (redrive.state === 'ready' || redrive.state === 'collecting') && now - redrive.createdAt > PLANS_KEPT_MS
}
