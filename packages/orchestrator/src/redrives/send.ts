// Sends items of one chunk back to work, each exactly once. The store decides: a change names the generation that a task was found
// in, so that a call that is made again after a crash changes nothing twice, and of two redrives with one task only the first gets it.
// Who it was is in the journal, in the same step as the change.
//
// A task's snapshot never changes. So an item with a patch goes on as a copy: the dead letter is discarded, and a new task with its
// retry token and the patched payload takes its place. The original stays, as it was.

import {
  actorText,
  type By,
  type Clock,
  decodeJson,
  type Engine,
  findAction,
  isRepriseError,
  type JsonPatch,
  type JsonText,
  NAME_LENGTH_MAX,
  patchedJson,
  schemaProblem,
  type Task,
  type TaskId,
  type TaskSpec,
  type Turns,
  turnsOf,
} from '@reprise/core'
import type { ItemNews, RedriveChunk, RedriveItem } from './chunk.ts'
import { markOf, type RedriveDocument } from './redrive.ts'

/** Which items, by their places in the chunk. */
export type Places = readonly number[]

/** How many entries of a task's journal are looked through for the one that sent it. */
const ENTRIES_MAX = 50

export interface Sending {
  readonly engine: Engine
  readonly clock: Clock
  readonly redrive: Pick<RedriveDocument, 'id' | 'actor' | 'reason' | 'plan' | 'tenants'>
}

const byOf = ({ id, actor, reason, tenants }: Sending['redrive']): By => ({
  actor,
  reason: `${reason} ${markOf(id)}`,
  rank: tenants === null ? 'platform' : 'tenant',
})

export async function sendItems(sending: Sending, chunk: RedriveChunk, places: Places): Promise<Map<number, ItemNews>> {
  const { patch } = sending.redrive.plan
  if (patch === null) return sendAsTheyAre(sending, chunk, places)
  const news = new Map<number, ItemNews>()
  for (const at of places) {
    const item = chunk.items[at]
    if (item !== undefined) news.set(at, await sendPatched(sending, item, patch))
  }
  return news
}

async function sendAsTheyAre(
  { engine, redrive }: Sending,
  { items }: RedriveChunk,
  places: Places,
): Promise<Map<number, ItemNews>> {
  const wanted = places.flatMap((at) => items[at] ?? [])
  const changed = await changedOf(engine, 'redrive', wanted, byOf(redrive))
  const news = new Map<number, ItemNews>()
  for (const at of places) {
    const item = items[at]
    if (item === undefined) continue
    news.set(at, changed.has(item.id) ? { status: 'sent' } : await unchanged(engine, redrive.id, item))
  }
  return news
}

type FencedKind = 'redrive' | 'discard' | 'revert'

/** Changes these tasks if they are still in the generation that is named; says which it changed. */
export async function changedOf(
  engine: Engine,
  kind: FencedKind,
  items: readonly Pick<RedriveItem, 'id' | 'generation'>[],
  by: By,
): Promise<ReadonlySet<TaskId>> {
  const select = { ids: items.map(({ id }) => id), generations: items.map(({ generation }) => generation) }
  const changed = new Set<TaskId>()
  let cursor: string | null = null
  do {
    const step = await engine.change({ kind, select, by, ...(cursor === null ? {} : { cursor }) })
    for (const id of step.changed) changed.add(id)
    cursor = step.next
  } while (cursor !== null)
  return changed
}

/** Why a task was not changed. If this redrive changed it before, and could not write that down, it is sent all the same. */
async function unchanged(engine: Engine, redrive: string, item: RedriveItem): Promise<ItemNews> {
  const task = await engine.task(item.id, { light: true })
  if (task === null) return { status: 'skipped', why: 'It is gone.' }
  if (task.generation === item.generation) return { status: 'skipped', why: `It is ${task.state.status} now.` }
  const actor = await redrivenBy(engine, item.id, item.generation + 1, redrive)
  if (actor === OURS) return { status: 'sent' }
  return { status: 'skipped', why: `${actor === null ? 'Somebody' : actorText(actor)} redrove it meanwhile.` }
}

const OURS = Symbol('ours')

/** Who opened this generation; null if the journal does not tell any more. */
async function redrivenBy(
  engine: Engine,
  id: TaskId,
  generation: number,
  redrive: string,
): Promise<string | typeof OURS | null> {
  const { entries } = await engine.journal.read({ taskId: id, newest: true, limit: ENTRIES_MAX })
  const entry = entries.find(({ type, data }) => type === 'task.redriven' && data.generation === generation)
  if (entry === undefined) return null
  return entry.reason.endsWith(markOf(redrive)) ? OURS : entry.actor
}

/** The copy's id: the same whichever redrive makes it, and however often. */
export function copyId({ id, generation }: Pick<RedriveItem, 'id' | 'generation'>): TaskId {
  const tail = `~${generation + 1}`
  return `${id.slice(0, NAME_LENGTH_MAX - tail.length)}${tail}` as TaskId
}

async function sendPatched(sending: Sending, item: RedriveItem, patch: JsonPatch): Promise<ItemNews> {
  const { engine, redrive, clock } = sending
  const task = await engine.task(item.id)
  if (task === null) return { status: 'skipped', why: 'It is gone.' }
  if (task.generation !== item.generation) return { status: 'skipped', why: 'Somebody redrove it meanwhile.' }
  const payload = await fittingPayload(engine, task, patch, turnsOf(clock))
  if ('why' in payload) return { status: 'skipped', why: payload.why }
  if (!(await discarded(sending, task, item))) return { status: 'skipped', why: `It is ${task.state.status} now.` }
  const [result] = await engine.submit([copyOf(task, item, payload.text)])
  if (result?.id === copyId(item)) return { status: 'sent' }
  await changedOf(engine, 'revert', [item], byOf(redrive))
  return { status: 'skipped', why: `Task '${result?.id}' has its dedupe key.` }
}

/** Whether the original is given up by this redrive, now or before a crash. */
async function discarded({ engine, redrive }: Sending, { id, state }: Task, item: RedriveItem): Promise<boolean> {
  if (state.status === 'dead' && (await changedOf(engine, 'discard', [item], byOf(redrive))).has(id)) return true
  const { entries } = await engine.journal.read({ taskId: id, newest: true, limit: ENTRIES_MAX })
  const last = entries.find(({ type }) => type === 'task.discarded' || type === 'task.reverted')
  return last?.type === 'task.discarded' && last.reason.endsWith(markOf(redrive.id))
}

/** The patched payload, or why there is none. Where a worker published what the action takes, it must fit that. */
export async function fittingPayload(
  engine: Engine,
  { action, payload }: Pick<Task, 'action' | 'payload'>,
  patch: JsonPatch,
  turns: Pick<Turns, 'isSpent' | 'wait'>,
): Promise<{ readonly text: JsonText } | { readonly why: string }> {
  try {
    const text = await patchedJson(payload, patch, turns)
    const { inputSchema } = (await findAction(engine, action)) ?? {}
    if (turns.isSpent) await turns.wait()
    const problem = inputSchema === undefined ? null : schemaProblem(parsed(inputSchema), decodeJson(text))
    return problem === null ? { text } : { why: `The patched payload does not fit ${action}: ${problem}.` }
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_INVALID') && !isRepriseError(error, 'REPRISE_TOO_LARGE')) throw error
    return { why: error.message }
  }
}

/** What a worker published may be no JSON: then it says nothing. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return true
  }
}

/** The label of a copy that names its original. */
export const ORIGINAL_LABEL = 'redrive_of'

function copyOf(task: Task, item: RedriveItem, payload: JsonText): TaskSpec {
  const { action, pool, tenant, labels, priority, settings, retryToken, dedupeKey, state } = task
  const isTaken = state.status === 'dead' && state.keyTaken === true
  return {
    id: copyId(item),
    action,
    pool,
    tenant,
    labels: { ...labels, [ORIGINAL_LABEL]: task.id },
    priority,
    settings,
    retryToken,
    dedupeKey: isTaken ? null : dedupeKey,
    payload,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
  }
}
