// Writes down the dead letters of a redrive, one bounded step after the other: a page of the search becomes chunks, and the
// document remembers where to go on. The step that was repeated after a crash, or taken twice at once, writes the same chunks
// again. Only what had died before the redrive was created counts.

import {
  type Collection,
  type Engine,
  isRepriseError,
  type SearchOptions,
  searchTasks,
  stepDocument,
  type Task,
  type TaskFilter,
} from '@reprise/core'
import { CHUNK_ITEMS_MAX, chunkId, chunkOf, chunksIn, type RedriveChunk } from './chunk.ts'
import { preflight } from './preflight.ts'
import { type CauseCount, type Found, NO_ITEMS, type RedriveDocument, redrivesIn } from './redrive.ts'

/** Ids and lanes are what items mostly consist of: together they leave room for the rest within one document. */
const CHUNK_NAME_BYTES_MAX = 60_000
const LISTED_MAX = 20
const LANES_MAX = 50
const AGES: readonly (readonly [name: string, ms: number])[] = [
  ['10m', 600_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
  ['7d', 604_800_000],
]
const MESSAGE_LENGTH_MAX = 200

export const NOTHING_FOUND: Found = {
  actions: [],
  tenants: [],
  ages: [],
  causes: [],
  lanes: [],
  expired: 0,
  superseded: 0,
}

/** How its creator sees tasks, and whose turn it is. */
export type CollectLook = Pick<SearchOptions, 'seen' | 'turns'>

/** One step. Answers the redrive as it is then; it is still `collecting` if there is more. Null if there is none. */
export async function collectStep(engine: Engine, id: string, look: CollectLook): Promise<RedriveDocument | null> {
  const redrives = redrivesIn(engine)
  const stored = await redrives.get(id)
  if (stored === null) return null
  const { document } = stored
  if (document.state !== 'collecting' || document.filter === null) return document
  const page = await searchTasks(engine, document.filter, {
    ...look,
    now: document.createdAt,
    tenants: document.tenants,
    limit: CHUNK_ITEMS_MAX,
    light: true,
    ...(document.cursor === null ? {} : { cursor: document.cursor }),
  })
  const tasks = page.items.filter(({ state }) => state.status === 'dead' && state.at <= document.createdAt)
  const parts = partsOf(tasks)
  const chunks = chunksIn(engine)
  for (const [at, part] of parts.entries()) await put(chunks, chunkOf(chunkId(id, document.chunks + at), part))
  const total = document.total + tasks.length
  const collected: RedriveDocument = {
    ...document,
    chunks: document.chunks + parts.length,
    total,
    found: withFound(document.found, tasks, document.createdAt),
    counts: { ...NO_ITEMS, pending: total },
    cursor: page.next,
  }
  const next = page.next === null ? await complete(engine, collected) : collected
  try {
    return (await redrives.update(next, stored.version)).document
  } catch (error) {
    // Somebody else took this step, or aborted it.
    if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    return (await redrives.get(id))?.document ?? null
  }
}

/** Everything is written down. */
async function complete(engine: Engine, redrive: RedriveDocument): Promise<RedriveDocument> {
  const now = await engine.now()
  const ready = { ...redrive, filter: null, cursor: null, preflight: await preflight(engine, redrive, now) }
  if (redrive.total === 0) {
    const untold = { state: 'done', reason: 'There was nothing to redrive.', at: now } as const
    return { ...ready, state: 'done', endedAt: now, untold }
  }
  return redrive.startsItself ? { ...ready, state: 'running', startedAt: now } : { ...ready, state: 'ready' }
}

/** A filter for dead letters only. */
export const deadOnly = ({ terms }: TaskFilter): TaskFilter => ({
  terms: [...terms, { negated: false, condition: { kind: 'status', statuses: ['dead'] } }],
})

async function put(chunks: Collection<RedriveChunk>, chunk: RedriveChunk): Promise<void> {
  try {
    await chunks.insert(chunk)
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    // Left by a step that did not come to its end.
    await stepDocument(chunks, chunk.id, () => chunk)
  }
}

/** The tasks in parts, newest first, each small enough for one document. */
function partsOf(tasks: readonly Task[]): readonly (readonly Task[])[] {
  const parts: Task[][] = []
  const lanes = new Set<string>()
  let bytes = Number.POSITIVE_INFINITY
  for (const task of tasks) {
    const { id, pool, action, tenant } = task
    const lane = `${pool}\n${action}\n${tenant}`
    const length = Buffer.byteLength(id) + (lanes.has(lane) ? 0 : Buffer.byteLength(lane))
    if (bytes + length > CHUNK_NAME_BYTES_MAX) {
      parts.push([])
      lanes.clear()
      bytes = 0
    }
    lanes.add(lane)
    bytes += length
    parts.at(-1)?.push(task)
  }
  return parts
}

function withFound(found: Found, tasks: readonly Task[], now: number): Found {
  const actions = new Counted(found.actions, ({ name }) => name)
  const tenants = new Counted(found.tenants, ({ name }) => name)
  const ages = new Counted(found.ages, ({ name }) => name)
  const causes = new Counted(found.causes, ({ fingerprint }) => fingerprint)
  const lanes = new Counted(found.lanes, ({ pool, action, tenant }) => JSON.stringify([pool, action, tenant]))
  let { expired, superseded } = found
  for (const { pool, action, tenant, deadlineAt, state } of tasks) {
    if (state.status !== 'dead') continue
    const { failure, at } = state
    const message = failure.message.slice(0, MESSAGE_LENGTH_MAX)
    actions.add({ name: action, count: 1 })
    tenants.add({ name: tenant, count: 1 })
    ages.add({ name: AGES.find(([, ms]) => now - at < ms)?.[0] ?? 'older', count: 1 })
    causes.add({ fingerprint: failure.fingerprint, action, message, count: 1 })
    lanes.add({ pool, action, tenant, count: 1 })
    if (deadlineAt !== null && deadlineAt <= now) expired++
    if (state.keyTaken === true) superseded++
  }
  return {
    actions: actions.largest(LISTED_MAX),
    tenants: tenants.largest(LISTED_MAX),
    ages: ages.largest(LISTED_MAX),
    causes: causes.largest(LISTED_MAX),
    lanes: lanes.largest(LANES_MAX),
    expired,
    superseded,
  }
}

/** Counts by name. What falls out of a bounded list is not counted any more: such lists tell what is large. */
class Counted<T extends { readonly count: number }> {
  readonly #keyOf: (item: T) => string
  readonly #items = new Map<string, T>()

  constructor(items: readonly T[], keyOf: (item: T) => string) {
    this.#keyOf = keyOf
    for (const item of items) this.add(item)
  }

  add(item: T): void {
    const key = this.#keyOf(item)
    const known = this.#items.get(key)
    this.#items.set(key, known === undefined ? item : { ...known, count: known.count + item.count })
  }

  largest(max: number): readonly T[] {
    return [...this.#items.values()].toSorted((a, b) => b.count - a.count).slice(0, max)
  }
}

/** Adds to a list of causes, the most frequent first. */
export function withCauses(known: readonly CauseCount[], more: readonly CauseCount[]): readonly CauseCount[] {
  const causes = new Counted(known, ({ fingerprint }) => fingerprint)
  for (const one of more) causes.add(one)
  return causes.largest(LISTED_MAX)
}
