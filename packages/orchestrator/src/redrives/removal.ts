// Removes redrives that nobody looks at any more, with their items: ended ones after a month, plans that were never started after
// a week. The journal still has them.

import { allPages, type Engine } from '@reprise/core'
import { chunkId, chunksIn } from './chunk.ts'
import { isOver, type RedriveDocument, redrivesIn } from './redrive.ts'

const ENDED_KEPT_MS = 30 * 86_400_000
const PLANS_KEPT_MS = 7 * 86_400_000
/** In one go; the rest waits for the next. */
const LOOKED_AT_MAX = 1_000

export async function removeOld(engine: Engine): Promise<number> {
  const redrives = redrivesIn(engine)
  const chunks = chunksIn(engine)
  const now = await engine.now()
  const { items } = await allPages((page) => redrives.list(page), LOOKED_AT_MAX)
  let removed = 0
  for (const { document, version } of items) {
    if (!isOld(document, now)) continue
    for (let at = 0; at < document.chunks; at++) await chunks.remove(chunkId(document.id, at))
    if (await redrives.remove(document.id, version)) removed++
  }
  return removed
}

function isOld(redrive: RedriveDocument, now: number): boolean {
  if (isOver(redrive)) return now - (redrive.endedAt ?? now) > ENDED_KEPT_MS
  return (redrive.state === 'ready' || redrive.state === 'collecting') && now - redrive.createdAt > PLANS_KEPT_MS
}
