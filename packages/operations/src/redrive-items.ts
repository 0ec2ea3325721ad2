// The items of a redrive as an operator sees them, page by page: what became of each, and with a patch what it changes, before
// anything runs.

import {
  decodeJson,
  InvalidError,
  type JsonChange,
  jsonChanges,
  NotFoundError,
  PAGE_LIMIT_DEFAULT,
  type Page,
  turnsOf,
} from '@reprise/core'
import {
  chunkId,
  chunksIn,
  copyId,
  fittingPayload,
  type RedriveChunk,
  type RedriveDocument,
  type RedriveItem,
} from '@reprise/orchestrator'
import type { z } from 'zod'
import { type Caller, mayTouch } from './access/caller.ts'
import type { Context } from './context.ts'
import type { RedriveItemView } from './schemas/redrive.ts'
import { sightOf } from './sight.ts'

/** How many chunks one call looks through. */
const CHUNKS_MAX = 20
/** With a patch, payloads are read and compared. */
const PATCHED_MAX = 50
/** In characters of JSON: a page ends where it has more. */
const PAGE_LENGTH_MAX = 1_000_000
/** A longer value is not shown in what a patch changes. */
const VALUE_LENGTH_MAX = 2_000
const LONG = '(long)'

interface ItemQuery {
  readonly status?: RedriveItem['status'] | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

type ItemView = z.output<typeof RedriveItemView>

export async function redriveItems(
  context: Context,
  caller: Caller,
  redrive: RedriveDocument,
  { status, limit: asked = PAGE_LIMIT_DEFAULT, cursor }: ItemQuery,
): Promise<Page<ItemView>> {
  const { engine, clock } = context
  const limit = redrive.plan.patch === null ? asked : Math.min(asked, PATCHED_MAX)
  const chunks = chunksIn(engine)
  const turns = turnsOf(clock)
  const items: ItemView[] = []
  let length = 0
  let [chunk, place] = cursor === undefined ? [redrive.chunks - 1, 0] : placeOf(cursor)
  for (let looks = 0; chunk >= 0 && looks < CHUNKS_MAX; looks++, chunk--, place = 0) {
    const stored = await chunks.get(chunkId(redrive.id, chunk))
    if (stored === null) throw new NotFoundError('redrive', redrive.id)
    for (; place < stored.document.items.length; place++) {
      const item = stored.document.items[place]
      if (item === undefined || (status !== undefined && item.status !== status)) continue
      if (items.length === limit) return { items, next: `${chunk}.${place}` }
      if (turns.isSpent) await turns.wait()
      const view = await itemView(context, caller, redrive, stored.document, item)
      items.push(view)
      length += JSON.stringify(view).length
      if (length >= PAGE_LENGTH_MAX) return { items, next: `${chunk}.${place + 1}` }
    }
  }
  return { items, next: chunk < 0 ? null : `${chunk}.0` }
}

function placeOf(cursor: string): [chunk: number, place: number] {
  const [, chunk, place] = /^(\d{1,9})\.(\d{1,6})$/.exec(cursor) ?? []
  if (chunk === undefined) throw new InvalidError('The cursor is not one that this list gave out.')
  return [Number(chunk), Number(place)]
}

async function itemView(
  context: Context,
  caller: Caller,
  redrive: RedriveDocument,
  { causes, lanes }: RedriveChunk,
  item: RedriveItem,
): Promise<ItemView> {
  const { redaction } = context
  const causeAt = (at: number | undefined) => {
    const cause = at === undefined ? undefined : causes[at]
    return cause === undefined ? null : { fingerprint: cause.fingerprint, message: redaction.text(cause.message) }
  }
  const lane = lanes[item.lane]
  return {
    taskId: item.id,
    status: item.status,
    action: lane?.action ?? '',
    tenant: lane?.tenant ?? '',
    generation: item.generation,
    cause: causeAt(item.cause),
    again: causeAt(item.again),
    why: item.why === undefined ? null : redaction.text(item.why),
    ...(await patchView(context, caller, redrive, item)),
  }
}

type PatchView = Pick<ItemView, 'copy' | 'changes' | 'problem'>

const NO_PATCH: PatchView = { copy: null, changes: null, problem: null }

/** What the patch changes, as far as the caller may see it: both payloads are redacted first. */
async function patchView(
  context: Context,
  caller: Caller,
  { plan }: RedriveDocument,
  item: RedriveItem,
): Promise<PatchView> {
  if (plan.patch === null) return NO_PATCH
  const { engine, clock } = context
  const copy = item.status === 'pending' || item.status === 'skipped' ? null : copyId(item)
  const task = await engine.task(item.id)
  // Its id may be that of another tenant's by now.
  if (task === null || !mayTouch(caller, task.tenant)) return { ...NO_PATCH, copy, problem: 'It is gone.' }
  const turns = turnsOf(clock)
  const payload = await fittingPayload(engine, task, plan.patch, turns)
  if ('why' in payload) return { ...NO_PATCH, copy, problem: context.redaction.text(payload.why) }
  const sight = sightOf(context, caller)
  const before = await sight.paced(decodeJson(task.payload), turns)
  const after = await sight.paced(decodeJson(payload.text), turns)
  const changes: JsonChange[] = []
  for (const change of await jsonChanges(before, after, turns)) {
    if (turns.isSpent) await turns.wait()
    changes.push(shortened(change))
  }
  return { copy, changes, problem: null }
}

function shortened({ path, ...values }: JsonChange): JsonChange {
  const short = Object.entries(values).map(([name, value]) => [name, isLong(value) ? LONG : value] as const)
  return { path: path.slice(0, VALUE_LENGTH_MAX), ...Object.fromEntries(short) }
}

const isLong = (value: unknown): boolean =>
  typeof value === 'string' ? value.length > VALUE_LENGTH_MAX : JSON.stringify(value).length > VALUE_LENGTH_MAX
