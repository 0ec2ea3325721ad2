// Messages of outside queues that nobody can read, kept aside for a person: the text as it came, and why it was refused. A kept
// message is a document; its text stands in parts beside it, since it may be larger than a document. The document is written
// last, so that one that is there is whole.
//
//   (nothing) ──insert──▶ kept, not journalled ──entry, step──▶ kept ──resend or discard (a person)──▶ (nothing)
//
// A crash before the step leaves it to the next delivery of the message, which is still in the queue.

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import {
  type Collection,
  type Engine,
  isRepriseError,
  type JournalEntryInput,
  PAGE_LIMIT_MAX,
  type Page,
  type PageRequest,
  present,
  type QueueDelivery,
  stepDocument,
} from '@reprise/core'

export interface KeptMessage {
  /** The message's own. */
  readonly id: string
  readonly queue: string
  readonly reason: string
  readonly keptAt: number
  readonly sentAt: number | null
  readonly attributes: Readonly<Record<string, string>>
  readonly group: string | null
  /** How the text begins. */
  readonly head: string
  readonly length: number
  readonly parts: number
  readonly isJournalled: boolean
}

interface TextPart {
  readonly id: string
  readonly text: string
}

/** Of one queue. More than that is no accident of single messages: the rest stays in the queue, and ends in its dead letters. */
export const KEPT_MAX = 10_000
const HEAD_LENGTH = 500
/** Well below what a document may have. */
const PART_LENGTH = 200_000
const REASON_LENGTH_MAX = 500
const ACTOR = 'queue'

type Store = Pick<Engine, 'collection' | 'journal'>

export const keptIn = (engine: Store): Collection<KeptMessage> =>
  engine.collection<KeptMessage>({ name: 'kept-messages', indexes: { queue: ({ queue }) => queue } })

const partsIn = (engine: Store): Collection<TextPart> =>
  engine.collection<TextPart>({ name: 'kept-message-parts', indexes: {} })

/** True if it is kept now, or was before. */
export async function keepMessage(
  engine: Store,
  queue: string,
  delivery: QueueDelivery,
  because: { readonly reason: string; readonly now: number },
): Promise<void> {
  const { messageId: id, body, attributes, group, sentAt } = delivery
  const reason = because.reason.slice(0, REASON_LENGTH_MAX).toWellFormed()
  const packed = deflateRawSync(Buffer.from(body)).toString('base64')
  const parts = Math.ceil(packed.length / PART_LENGTH)
  for (let part = 0; part < parts; part++) {
    const text = packed.slice(part * PART_LENGTH, (part + 1) * PART_LENGTH)
    await insertOnce(partsIn(engine), { id: partId(id, part), text })
  }
  const head = body.slice(0, HEAD_LENGTH).toWellFormed()
  const rest = { attributes, group, sentAt, head, length: body.length, parts }
  await insertOnce(keptIn(engine), { id, queue, reason, keptAt: because.now, ...rest, isJournalled: false })
  const stored = await keptIn(engine).get(id)
  if (stored === null || stored.document.isJournalled) return
  await engine.journal.append([entryOf('message.kept', stored.document, ACTOR, reason)])
  await stepDocument(keptIn(engine), id, (one) => (one.isJournalled ? null : { ...one, isJournalled: true }))
}

/** The text as it came. */
export async function textOfKept(engine: Store, { id, parts }: KeptMessage): Promise<string> {
  let packed = ''
  for (let part = 0; part < parts; part++) {
    packed += (await partsIn(engine).get(partId(id, part)))?.document.text ?? ''
  }
  return inflateRawSync(Buffer.from(packed, 'base64')).toString()
}

/** When a person has decided about it. False if it is gone already. */
export async function removeKept(
  engine: Store,
  kept: KeptMessage,
  by: { readonly type: 'message.resent' | 'message.discarded'; readonly actor: string; readonly reason: string },
): Promise<boolean> {
  await engine.journal.append([entryOf(by.type, kept, by.actor, by.reason)])
  const isGone = await keptIn(engine).remove(kept.id)
  for (let part = 0; part < kept.parts; part++) await partsIn(engine).remove(partId(kept.id, part))
  return isGone
}

/** Counts up to the limit, by pages. */
export async function keptCount(engine: Store, queue: string): Promise<number> {
  let count = 0
  let cursor: string | undefined
  do {
    const page = await keptPage(engine, queue, { limit: PAGE_LIMIT_MAX, ...present({ cursor }) })
    count += page.items.length
    cursor = page.next ?? undefined
  } while (cursor !== undefined && count < KEPT_MAX)
  return count
}

export async function keptPage(engine: Store, queue: string, page: PageRequest): Promise<Page<KeptMessage>> {
  const { items, next } = await keptIn(engine).find({ index: 'queue', value: queue, ...page })
  return { items: items.map(({ document }) => document), next }
}

const partId = (id: string, part: number): string => `${id}:${part}`

const entryOf = (
  type: JournalEntryInput['type'],
  { id, queue }: KeptMessage,
  actor: string,
  reason: string,
): JournalEntryInput => ({ type, taskId: null, attempt: null, actor, reason, data: { message: id, queue } })

async function insertOnce<D extends { readonly id: string }>(collection: Collection<D>, document: D): Promise<void> {
  try {
    await collection.insert(document)
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
  }
}
