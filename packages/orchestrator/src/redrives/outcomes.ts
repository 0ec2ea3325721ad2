// What became of items that were sent: looked up from their tasks. And how to take back those that have not started.

import { type By, END_STATUSES, type Engine, type JournalEntryInput, mapLimited, type Task } from '@reprise/core'
import type { ItemNews, RedriveChunk, RedriveItem } from './chunk.ts'
import { markOf, type RedriveDocument } from './redrive.ts'
import { changedOf, copyId } from './send.ts'

const AT_ONCE = 50
/** How many entries of a task's journal are looked through. */
const ENTRIES_MAX = 50

type Asked = Pick<RedriveDocument, 'id' | 'actor' | 'reason' | 'plan' | 'tenants'>

/** News of the items of a chunk that are under way, by their places. */
export async function outcomesOf(
  engine: Engine,
  { plan }: Pick<Asked, 'plan'>,
  { items }: RedriveChunk,
): Promise<ReadonlyMap<number, ItemNews>> {
  const news = new Map<number, ItemNews>()
  const underWay = placesOf(items, 'sent')
  await mapLimited(underWay, AT_ONCE, async (at) => {
    const item = items[at]
    if (item === undefined) return
    const isCopy = plan.patch !== null
    const task = await engine.task(isCopy ? copyId(item) : item.id, { light: true })
    const outcome = outcomeOf(task, isCopy ? 1 : item.generation + 1)
    if (outcome !== null) news.set(at, outcome)
  })
  return news
}

/**
 * Patched items go on as copies, and a copy that succeeds at once tells nobody: that its original has recovered is told here, once,
 * before the outcome is written down. A process that dies in between finds the entry the next time.
 */
export async function tellCopies(
  { journal }: Pick<Engine, 'journal'>,
  redrive: Asked,
  { items, lanes, causes }: RedriveChunk,
  outcomes: ReadonlyMap<number, ItemNews>,
): Promise<void> {
  if (redrive.plan.patch === null) return
  const recovered = [...outcomes].flatMap(([at, { status }]) => (status === 'recovered' ? (items[at] ?? []) : []))
  const untold = await mapLimited(recovered, AT_ONCE, async (item): Promise<readonly JournalEntryInput[]> => {
    const copy = copyId(item)
    const { entries } = await journal.read({ taskId: item.id, newest: true, limit: ENTRIES_MAX })
    if (entries.some(({ type, data }) => type === 'task.recovered' && data.copy === copy)) return []
    const data = {
      action: lanes[item.lane]?.action ?? '',
      reason: 'redrive',
      generation: item.generation,
      fingerprint: causes[item.cause]?.fingerprint ?? null,
      copy,
    }
    const reason = `It succeeded as ${copy}, with a patched payload ${markOf(redrive.id)}`
    return [{ type: 'task.recovered', taskId: item.id, attempt: null, actor: redrive.actor, reason, data }]
  })
  const entries = untold.flat()
  if (entries.length > 0) await journal.append(entries)
}

export const placesOf = (items: readonly RedriveItem[], status: RedriveItem['status']): number[] =>
  items.flatMap((item, at) => (item.status === status ? [at] : []))

function outcomeOf(task: Task | null, generation: number): ItemNews | null {
  if (task === null) return { status: 'ended', why: 'It has ended, and was removed since.' }
  const { state } = task
  if (task.generation > generation) return { status: 'failed', why: 'It died again, and was redriven since.' }
  if (!END_STATUSES.has(state.status)) return null
  switch (state.status) {
    case 'succeeded':
      return { status: 'recovered' }
    case 'dead': {
      const { fingerprint, message } = state.failure
      return { status: 'failed', failure: { fingerprint, message } }
    }
    default:
      return { status: 'ended', why: `It was ${state.status}.` }
  }
}

/** Takes back those of these items that have not started: they are dead again. `as` says what they are then. */
export async function takenBack(
  engine: Engine,
  redrive: Asked,
  { items }: RedriveChunk,
  places: readonly number[],
  as: 'undone' | 'pending',
): Promise<ReadonlyMap<number, ItemNews>> {
  const by: By = { actor: redrive.actor, reason: `taken back ${markOf(redrive.id)}` }
  const wanted = places.flatMap((at) => items[at] ?? [])
  const sent = redrive.plan.patch === null ? wanted.map(opened) : await cancelledCopies(engine, wanted, by)
  if (sent.length === 0) return new Map()
  const changed = await changedOf(engine, 'revert', sent, by)
  const news = new Map<number, ItemNews>()
  for (const at of places) {
    const item = items[at]
    if (item === undefined || !changed.has(item.id)) continue
    const generation = redrive.plan.patch === null ? item.generation + 1 : item.generation
    news.set(at, { status: as, generation })
  }
  return news
}

const opened = ({ id, generation }: RedriveItem): Pick<RedriveItem, 'id' | 'generation'> => ({
  id,
  generation: generation + 1,
})

/** Those whose copies had not started, and now never will: their originals can be dead letters again. */
async function cancelledCopies(
  engine: Engine,
  items: readonly RedriveItem[],
  by: By,
): Promise<readonly Pick<RedriveItem, 'id' | 'generation'>[]> {
  const copies = await mapLimited(items, AT_ONCE, (item) => engine.task(copyId(item), { light: true }))
  const unstarted = items.filter((_, at) => copies[at]?.attempt === 0)
  if (unstarted.length === 0) return []
  await engine.change({ kind: 'cancel', select: { ids: unstarted.map(copyId) }, by })
  const ends = await mapLimited(unstarted, AT_ONCE, (item) => engine.task(copyId(item), { light: true }))
  return unstarted.filter((_, at) => ends[at]?.state.status === 'cancelled' && ends[at].attempt === 0)
}
