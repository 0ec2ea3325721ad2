// Operations about the outside queue by which tasks come in: what is in it, its dead letters, and the messages that were kept
// aside because nobody could read them. Messages name their tenants themselves, so all of this is for callers who may see all.

import {
  isRepriseError,
  messageOf,
  NotFoundError,
  type OutsideQueue,
  type QueueDelivery,
  type QueueFacts,
  RequestError,
} from '@reprise/core'
import {
  derivedId,
  ID_ATTRIBUTE,
  type KeptMessage,
  keptIn,
  outboxFigures,
  removeKept,
  TYPE_ATTRIBUTE,
  textOfKept,
} from '@reprise/orchestrator'
import { z } from 'zod'
import { byOf } from './access/caller.ts'
import type { Context } from './context.ts'
import { given } from './given.ts'
import { inTurns } from './in-turns.ts'
import { operation } from './operation.ts'
import { digitsInput, Moment, NameInput, PageQuery, pageOf, ReasonInput } from './schemas/names.ts'
import type { Redaction } from './views.ts'

const Depth = {
  name: z.string(),
  visible: z.int().meta({ description: 'About as many can be received now, as the queue says.' }),
  inFlight: z.int().meta({ description: 'In the hands of a consumer, or put off.' }),
  delayed: z.int(),
}

const QueueView = z
  .object({
    ...Depth,
    isFifo: z.boolean(),
    maxMessageBytes: z.int(),
    maxReceives: z.int().nullable().meta({ description: 'After which a message goes to the dead letters.' }),
    deadLetters: z.object(Depth).nullable().meta({ description: "The queue's own dead-letter queue, if it has one." }),
    outbox: z
      .object({
        unsent: z.int().meta({ description: 'Counted up to 1,000.' }),
        refused: z.int().meta({ description: 'Of these, the ones that the queue has refused. They are tried again.' }),
        oldestAskedAt: Moment.nullable(),
      })
      .meta({ description: "Operators' retries that wait in the store to be sent to their queue." }),
  })
  .meta({ id: 'Queue' })

const messageFields = {
  id: z.string().meta({ description: "The message's own id." }),
  sentAt: Moment.nullable(),
  attributes: z.record(z.string(), z.string()),
  group: z.string().nullable(),
  head: z.string().meta({ description: 'How the text begins, without secrets.' }),
}

const DeadLetterView = z
  .object({ ...messageFields, receives: z.int(), action: z.string().nullable(), taskId: z.string().nullable() })
  .meta({ id: 'QueueDeadLetter' })

const KeptMessageView = z
  .object({
    ...messageFields,
    queue: z.string(),
    reason: z.string().meta({ description: 'Why nobody could read it.' }),
    keptAt: Moment,
    length: z.int().meta({ description: 'How many characters the text has.' }),
  })
  .meta({ id: 'KeptMessage' })

const KeptMessageWithText = KeptMessageView.extend({ text: z.string() }).meta({ id: 'KeptMessageWithText' })

const RedrivenView = z
  .object({
    moved: z.int(),
    isDone: z.boolean().meta({ description: 'False if there may be more: ask again.' }),
  })
  .meta({ id: 'QueueRedriven' })

const PEEK_MAX = 100
const MOVE_MAX = 1_000
const BATCH = 10
const HEAD_LENGTH = 500
/** How long a look at dead letters hides them from others at the most. */
const PEEK_MS = 5_000
/** How long a batch of dead letters may take to move. */
const MOVE_MS = 60_000

const common = { tag: 'queue', tenants: 'all', problems: [404, 502] } as const
const KeptParams = z.object({ id: NameInput })

export const queueOperations = {
  showQueue: operation({
    ...common,
    route: 'GET /api/v1/queue',
    summary: 'Show the outside queue and its dead letters',
    right: 'read',
    input: z.object({}),
    output: QueueView,
    answer: 'The queue.',
    run: (context) =>
      asking(context, async (queue) => {
        const [facts, dead, outbox] = await Promise.all([
          queue.facts(),
          deadFacts(queue),
          outboxFigures(context.engine),
        ])
        const { isFifo, maxMessageBytes, maxReceives } = facts
        return {
          ...depth(facts),
          isFifo,
          maxMessageBytes,
          maxReceives,
          deadLetters: dead === null ? null : depth(dead),
          outbox,
        }
      }),
  }),
  listQueueDeadLetters: operation({
    ...common,
    route: 'GET /api/v1/queue/dead-letters',
    summary: "Look at some messages of the queue's dead-letter queue",
    description: 'They are hidden from other readers for a moment. The queue does not say in which order they come.',
    right: 'operate',
    input: z.object({ limit: digitsInput(1, PEEK_MAX).optional() }),
    output: pageOf(DeadLetterView, 'QueueDeadLetterPage'),
    answer: 'Some of them.',
    run: (context, _, { limit = BATCH }) =>
      asking(context, async (queue) => {
        const items = await peeked(context, await deadLettersOf(queue), limit)
        return { items, next: null }
      }),
  }),
  redriveQueue: operation({
    ...common,
    route: 'POST /api/v1/queue/redrive',
    summary: 'Move dead letters of the queue back to it',
    description:
      'A bounded number per call. A message that was moved twice, because a call was cut off, still runs once: its attempt is reserved once.',
    right: 'operate',
    input: z.object({ limit: z.int().min(1).max(MOVE_MAX).optional(), reason: ReasonInput.optional() }),
    output: RedrivenView,
    answer: 'What was moved.',
    repeatable: true,
    run: (context, caller, { limit = BATCH * BATCH, reason: said }) =>
      asking(context, async (queue) => {
        const dead = await deadLettersOf(queue)
        const { actor, reason } = byOf(caller, said)
        const entry = { type: 'message.resent', taskId: null, attempt: null, actor, reason } as const
        await context.engine.journal.append([{ ...entry, data: { queue: queue.name, from: dead.name, limit } }])
        return moved(dead, queue, limit)
      }),
  }),
  listKeptMessages: operation({
    ...common,
    route: 'GET /api/v1/queue/kept',
    summary: 'List messages that nobody could read',
    right: 'read',
    input: PageQuery,
    output: pageOf(KeptMessageView, 'KeptMessagePage'),
    answer: 'Oldest first.',
    run: async (context, _, page) => {
      const { items, next } = await keptIn(context.engine).list(given(page))
      return { items: items.map(({ document }) => shownKept(document, context)), next }
    },
  }),
  getKeptMessage: operation({
    ...common,
    route: 'GET /api/v1/queue/kept/{id}',
    summary: 'Get a message that nobody could read, with its text',
    right: 'operate',
    input: KeptParams,
    output: KeptMessageWithText,
    answer: 'The message.',
    run: async (context, _, { id }) => {
      const kept = await stored(context, id)
      return { ...shownKept(kept, context), text: context.redaction.text(await textOfKept(context.engine, kept)) }
    },
  }),
  resendKeptMessage: operation({
    ...common,
    route: 'POST /api/v1/queue/kept/{id}/resend',
    summary: 'Send a kept message to the queue again',
    description: 'When what was wrong is mended: an action that was not known, a task that had the id.',
    right: 'operate',
    input: KeptParams.extend({ reason: ReasonInput.optional() }),
    output: KeptMessageView,
    answer: 'It is in the queue again.',
    run: (context, caller, { id, reason }) =>
      asking(context, async (queue) => {
        const kept = await stored(context, id)
        const body = await textOfKept(context.engine, kept)
        const { attributes, group } = kept
        const [problem] = await queue.send([{ body, attributes, group: group ?? id, dedupeId: `kept ${id}` }])
        if (problem !== null && problem !== undefined) throw problem
        await removeKept(context.engine, kept, { type: 'message.resent', ...byOf(caller, reason) })
        return shownKept(kept, context)
      }),
  }),
  discardKeptMessage: operation({
    ...common,
    route: 'DELETE /api/v1/queue/kept/{id}',
    summary: 'Discard a kept message',
    right: 'operate',
    input: KeptParams,
    output: z.null(),
    answer: 'It is gone. The journal still names it.',
    status: 204,
    run: async (context, caller, { id }) => {
      const kept = await stored(context, id)
      await removeKept(context.engine, kept, { type: 'message.discarded', ...byOf(caller, undefined) })
      return null
    },
  }),
}

/** With the queue, if there is one. What the queue throws is told as such. */
async function asking<T>({ queue }: Context, ask: (queue: OutsideQueue) => Promise<T>): Promise<T> {
  if (queue === null) {
    throw new RequestError(
      'REPRISE_NOT_FOUND',
      'No queue is configured here. Set IMPLEMENTATION_SQS_QUEUE_URL for the server.',
    )
  }
  try {
    return await ask(queue)
  } catch (error) {
    if (isRepriseError(error)) throw error
    throw queueError(queue, error)
  }
}

export const queueError = (queue: OutsideQueue, cause: unknown): RequestError =>
  new RequestError('REPRISE_QUEUE_FAILED', `The queue '${queue.name}' did not do it: ${messageOf(cause)}`, { cause })

const deadFacts = async (queue: OutsideQueue): Promise<QueueFacts | null> =>
  (await (await queue.deadLetters())?.facts()) ?? null

async function deadLettersOf(queue: OutsideQueue): Promise<OutsideQueue> {
  const dead = await queue.deadLetters()
  if (dead !== null) return dead
  throw new RequestError('REPRISE_NOT_FOUND', `The queue '${queue.name}' has no dead-letter queue.`)
}

type DeadLetter = z.output<typeof DeadLetterView>

/** Some messages, each once, which others can have again right after. The texts of one batch at a time are in memory. */
async function peeked(context: Context, dead: OutsideQueue, limit: number): Promise<DeadLetter[]> {
  const found = new Map<string, DeadLetter>()
  const receipts: string[] = []
  while (found.size < limit) {
    const want = Math.min(limit - found.size, BATCH)
    const deliveries = await dead.receive({ limit: want, waitMs: 0, visibilityMs: PEEK_MS })
    receipts.push(...deliveries.map(({ receipt }) => receipt))
    const fresh = deliveries.filter(({ messageId }) => !found.has(messageId))
    const shown = await inTurns(context.clock, fresh, (delivery) => shownDelivery(delivery, context))
    for (const one of shown) found.set(one.id, one)
    if (fresh.length === 0) break
  }
  await dead.hide(receipts.map((receipt) => ({ receipt, forMs: 0 })))
  return [...found.values()]
}

/** Sent first, removed after: what is cut off in between is there twice, and runs once. */
async function moved(dead: OutsideQueue, queue: OutsideQueue, limit: number): Promise<z.output<typeof RedrivenView>> {
  let count = 0
  while (count < limit) {
    const want = Math.min(limit - count, BATCH)
    const deliveries = await dead.receive({ limit: want, waitMs: 0, visibilityMs: MOVE_MS })
    if (deliveries.length === 0) return { moved: count, isDone: true }
    const problems = await queue.send(
      deliveries.map(({ body, attributes, group, messageId }) => {
        // Only where it is needed: a message may have all the attributes, and all the bytes, that its queue takes.
        const isNamed = typeof saidIn(body).id === 'string' || attributes[ID_ATTRIBUTE] !== undefined
        const named = isNamed ? attributes : { ...attributes, [ID_ATTRIBUTE]: derivedId(messageId) }
        return { body, attributes: named, group: group ?? messageId, dedupeId: `redrive ${messageId}` }
      }),
    )
    const sent = deliveries.filter((_, index) => problems[index] === null)
    const failed = deliveries.filter((_, index) => problems[index] !== null)
    if (sent.length > 0) await dead.remove(sent.map(({ receipt }) => receipt))
    if (failed.length > 0) await dead.hide(failed.map(({ receipt }) => ({ receipt, forMs: 0 })))
    count += sent.length
    const problem = problems.find((one) => one !== null)
    if (sent.length === 0 && problem !== undefined && problem !== null) throw problem
  }
  return { moved: count, isDone: false }
}

async function stored({ engine }: Context, id: string): Promise<KeptMessage> {
  const found = await keptIn(engine).get(id)
  if (found === null) throw new NotFoundError('kept message', id)
  return found.document
}

const depth = ({ name, visible, inFlight, delayed }: QueueFacts) => ({ name, visible, inFlight, delayed })

function shownDelivery(
  { messageId: id, body, attributes, group, receives, sentAt }: QueueDelivery,
  { redaction }: Context,
): DeadLetter {
  const said = saidIn(body)
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  const action = text(said.action) ?? attributes[TYPE_ATTRIBUTE] ?? null
  const taskId = text(said.id) ?? attributes[ID_ATTRIBUTE] ?? null
  const head = redaction.text(body.slice(0, HEAD_LENGTH).toWellFormed())
  return { id, sentAt, attributes: shownAttributes(attributes, redaction), group, head, receives, action, taskId }
}

function saidIn(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}

function shownKept(kept: KeptMessage, { redaction }: Context): z.output<typeof KeptMessageView> {
  const { id, queue, reason, keptAt, sentAt, attributes, group, head, length } = kept
  const shown = { attributes: shownAttributes(attributes, redaction), head: redaction.text(head) }
  return { id, queue, reason, keptAt, sentAt, group, length, ...shown }
}

const shownAttributes = (attributes: KeptMessage['attributes'], redaction: Redaction): Record<string, string> =>
  redaction.value(attributes) as Record<string, string>
