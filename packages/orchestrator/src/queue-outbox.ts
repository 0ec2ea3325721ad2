// Retries that operators ask for and that go out by a queue (A10): documents in the store, and the service that publishes them.
// The document's id is the task and the attempt, so that one retry is asked for once, however often somebody clicks.
//
//   (nothing) ──askRetry──▶ asked ──journal entry──▶ wanted ──claimed by one process──▶ sending ──published──▶ published
//                             └─ after a minute, by the service: its process is gone       │
//                                              wanted, later ◀── refused, or lease over ───┘
//   published ──the attempt is reserved, or the task has ended──▶ (nothing)
//
// What is sent comes before the step that says so: a crash in between sends the message again, and the reservation of the
// attempt lets one of the two run (A2). A queue that keeps an order drops the second by its dedupe id.

import { createHash } from 'node:crypto'
import {
  type Backoff,
  type By,
  backoffMs,
  type Collection,
  type Engine,
  isRepriseError,
  type Meter,
  messageOf,
  type OutsideQueue,
  PAGE_LIMIT_MAX,
  QUEUE_PUBLISHED_TOTAL,
  type Service,
  type Stored,
  silentMeter,
  stepDocument,
  type Task,
  type TaskId,
} from '@reprise/core'
import { retryMessage } from './queue-message.ts'
import { createLoop, jitteredMs, type Run, type ServiceOptions, type Surroundings, surroundings } from './service.ts'

export interface OutboxDocument {
  readonly id: string
  readonly queue: string
  readonly taskId: TaskId
  readonly attempt: number
  readonly state: 'asked' | 'wanted' | 'sending' | 'published'
  readonly actor: string
  readonly reason: string
  readonly askedAt: number
  /** `sending`: until when it is one process's. `wanted`: before when nobody tries again. `published`: since when it is. */
  readonly at: number
  /** How often it could not be sent. */
  readonly failures: number
}

/** Between two steps of the publishing, for tests that crash the process. */
export type OutboxPoint = 'claimed' | 'sent' | 'noted'

export interface QueueOutboxOptions extends ServiceOptions {
  readonly engine: Engine
  readonly queue: OutsideQueue
  readonly meter?: Meter | undefined
  /** How often it looks; 1 s if not given. */
  readonly intervalMs?: number
  readonly at?: (point: OutboxPoint) => void
}

/** Whose process did not get to its second step by then is gone. */
const ASKED_MS = 60_000
/** How long one process has for what it sends. */
const SENDING_MS = 30_000
/** A message that nobody has seen for so long may be asked for again: its queue may have been purged. */
const PUBLISHED_MS = 300_000
const BATCH = 100
/** How many rounds lie between two looks at what was published. */
const TIDY_EVERY = 15
const BACKOFF: Backoff = { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 60_000, jitter: 0.2 }

export const UNSENT = 'unsent'

export const outboxIn = (engine: Pick<Engine, 'collection'>): Collection<OutboxDocument> =>
  engine.collection<OutboxDocument>({
    name: 'queue-outbox',
    indexes: {
      state: ({ queue, state }) => stateKey(queue, state),
      unsent: ({ state }) => (state === 'published' ? null : UNSENT),
    },
  })

const stateKey = (queue: string, state: OutboxDocument['state']): string => `${state} ${queue}`

/** Task ids may be as long as ids of documents. */
export const outboxId = (taskId: TaskId, attempt: number): string =>
  `${createHash('sha256').update(taskId).digest('hex')}:${attempt}`

export interface RetryAsked {
  readonly queue: string
  readonly taskId: TaskId
  readonly attempt: number
  readonly by: By
}

/** False if this retry is on its way already. */
export async function askRetry(engine: Engine, { queue, taskId, attempt, by }: RetryAsked): Promise<boolean> {
  const now = await engine.now()
  const { actor, reason } = by
  const asked = { queue, taskId, attempt, state: 'asked', actor, reason, askedAt: now, at: now, failures: 0 } as const
  const document: OutboxDocument = { id: outboxId(taskId, attempt), ...asked }
  const outbox = outboxIn(engine)
  try {
    await outbox.insert(document)
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    const isStale = (old: OutboxDocument): boolean => old.state === 'published' && now - old.at >= PUBLISHED_MS
    if ((await stepDocument<OutboxDocument>(outbox, document.id, (old) => (isStale(old) ? document : null))) === null)
      return false
  }
  await journalled(engine, document)
  return true
}

/** The entry, and the step after which it is published. */
async function journalled(
  engine: Engine,
  { id, queue, taskId, attempt, actor, reason }: OutboxDocument,
): Promise<void> {
  await engine.journal.append([
    { type: 'task.retried', taskId, attempt: null, actor, reason, data: { attempt, queue } },
  ])
  await stepDocument<OutboxDocument>(outboxIn(engine), id, (one) =>
    one.state === 'asked' ? { ...one, state: 'wanted' } : null,
  )
}

export function createQueueOutbox(options: QueueOutboxOptions): Service {
  const around = surroundings('queue outbox', options)
  return createLoop('queue outbox', around, () => new OutboxRun(options, around))
}

class OutboxRun implements Run {
  readonly #options: QueueOutboxOptions
  readonly #around: Surroundings
  readonly #outbox: Collection<OutboxDocument>
  readonly #meter: Meter
  #rounds = 0

  constructor(options: QueueOutboxOptions, around: Surroundings) {
    this.#options = options
    this.#around = around
    this.#outbox = outboxIn(options.engine)
    this.#meter = options.meter ?? silentMeter
  }

  async round(signal: AbortSignal): Promise<number> {
    const now = await this.#options.engine.now()
    await this.#takeOver(now)
    const sent = await this.#publish(now)
    if (this.#rounds++ % TIDY_EVERY === 0) await this.#tidy(signal)
    return sent === BATCH ? 0 : jitteredMs(this.#options.intervalMs ?? 1_000, this.#around.random)
  }

  /** Retries whose process ended between its two steps, and those that were being sent by one that is gone. */
  async #takeOver(now: number): Promise<void> {
    for (const { document } of await this.#in('asked')) {
      if (now - document.askedAt >= ASKED_MS) await journalled(this.#options.engine, document)
    }
    for (const { document } of await this.#in('sending')) {
      if (document.at > now) continue
      const again = (one: OutboxDocument): OutboxDocument | null =>
        one.state === 'sending' && one.at <= now ? { ...one, state: 'wanted', at: now } : null
      await stepDocument<OutboxDocument>(this.#outbox, document.id, again)
    }
  }

  /** How many were looked at. */
  async #publish(now: number): Promise<number> {
    const { engine, queue, at } = this.#options
    const wanted = await this.#in('wanted')
    const claimed: { readonly document: OutboxDocument; readonly task: Task }[] = []
    for (const { document, version } of wanted) {
      if (document.at > now) continue
      const task = await engine.task(document.taskId)
      if (task === null || isOver(task, document)) {
        await this.#outbox.remove(document.id)
        continue
      }
      const sending = { ...document, state: 'sending', at: now + SENDING_MS } as const
      // By the version: one process has it.
      const mine = await this.#outbox.update(sending, version).catch(unlessTaken)
      if (mine !== null) claimed.push({ document: mine.document, task })
    }
    if (claimed.length === 0) return wanted.length
    at?.('claimed')
    const problems = await queue.send(claimed.map(({ document, task }) => retryMessage(task, document.attempt)))
    at?.('sent')
    for (const [index, { document }] of claimed.entries()) await this.#note(document, problems[index] ?? null)
    at?.('noted')
    return wanted.length
  }

  async #note(document: OutboxDocument, problem: Error | null): Promise<void> {
    const { engine, queue } = this.#options
    const { log, onError, random } = this.#around
    const { taskId: task, attempt } = document
    const now = await engine.now()
    const isMine = (one: OutboxDocument): boolean => one.state === 'sending' && one.at === document.at
    this.#meter.count(QUEUE_PUBLISHED_TOTAL, { queue: queue.name, outcome: problem === null ? 'sent' : 'refused' })
    if (problem === null) {
      await stepDocument<OutboxDocument>(this.#outbox, document.id, (one) =>
        isMine(one) ? { ...one, state: 'published', at: now } : null,
      )
      return
    }
    const failures = document.failures + 1
    const words = `The retry could not be sent to the queue '${queue.name}': ${messageOf(problem)}`
    log.warn(words, { task, attempt, failures })
    onError(problem)
    if (isRepriseError(problem, 'REPRISE_TOO_LARGE')) {
      const entry = {
        type: 'message.dropped',
        taskId: task,
        attempt,
        actor: 'queue',
        reason: messageOf(problem),
      } as const
      await engine.journal.append([{ ...entry, data: { attempt, queue: queue.name } }])
      await this.#outbox.remove(document.id)
      return
    }
    const later = now + backoffMs(BACKOFF, document.failures, random.next())
    await stepDocument<OutboxDocument>(this.#outbox, document.id, (one) => {
      return isMine(one) ? { ...one, state: 'wanted', at: later, failures } : null
    })
  }

  /** A retry is done with when its attempt is reserved, or its task has gone another way. */
  async #tidy(signal: AbortSignal): Promise<void> {
    for (const { document, version } of await this.#in('published', PAGE_LIMIT_MAX)) {
      if (signal.aborted) return
      const task = await this.#options.engine.task(document.taskId, { light: true })
      if (task === null || isOver(task, document)) await this.#outbox.remove(document.id, version).catch(unlessTaken)
    }
  }

  async #in(state: OutboxDocument['state'], limit = BATCH): Promise<readonly Stored<OutboxDocument>[]> {
    const value = stateKey(this.#options.queue.name, state)
    return (await this.#outbox.find({ index: 'state', value, limit })).items
  }
}

const isOver = ({ attempt, state }: Task, document: OutboxDocument): boolean =>
  attempt >= document.attempt ||
  state.status === 'succeeded' ||
  state.status === 'discarded' ||
  state.status === 'cancelled'

function unlessTaken(error: unknown): null {
  if (isRepriseError(error, 'REPRISE_CONFLICT') || isRepriseError(error, 'REPRISE_NOT_FOUND')) return null
  throw error
}
