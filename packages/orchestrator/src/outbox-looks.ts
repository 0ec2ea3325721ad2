// What operators see of the outbox of queues: the retry of one task that is on its way, and how much waits to be sent in all. Reads only.

import { type Engine, PAGE_LIMIT_MAX, type Task } from '@reprise/core'
import { type OutboxDocument, outboxId, outboxIn, UNSENT } from './queue-outbox.ts'

export interface RetryOnItsWay {
  readonly queue: string
  readonly attempt: number
  /** `waiting` to be sent to the queue, being sent, or `published` there and not taken yet. */
  readonly state: 'waiting' | 'sending' | 'published'
  readonly askedAt: number
  /** How often the queue refused it. */
  readonly failures: number
  /** Before when it is not sent; null if nothing holds it. */
  readonly nextTryAt: number | null
}

/** The next attempt of the task as the outbox knows it; null if nobody asked for one by a queue. */
export async function retryOnItsWay(
  engine: Pick<Engine, 'collection'>,
  { id, attempt }: Pick<Task, 'id' | 'attempt'>,
): Promise<RetryOnItsWay | null> {
  const stored = await outboxIn(engine).get(outboxId(id, attempt + 1))
  if (stored === null) return null
  const { queue, state, askedAt, failures, at } = stored.document
  const isWaiting = state === 'asked' || state === 'wanted'
  return {
    queue,
    attempt: attempt + 1,
    state: isWaiting ? 'waiting' : state,
    askedAt,
    failures,
    nextTryAt: state === 'wanted' && failures > 0 ? at : null,
  }
}

export interface OutboxFigures {
  /** Retries that the queue does not have yet; counted up to 1,000. */
  readonly unsent: number
  /** Of these, the ones that the queue has refused. */
  readonly refused: number
  readonly oldestAskedAt: number | null
}

export async function outboxFigures(engine: Pick<Engine, 'collection'>): Promise<OutboxFigures> {
  const { items } = await outboxIn(engine).find({ index: 'unsent', value: UNSENT, limit: PAGE_LIMIT_MAX })
  const documents: readonly OutboxDocument[] = items.map(({ document }) => document)
  return {
    unsent: documents.length,
    refused: documents.filter(({ failures }) => failures > 0).length,
    oldestAskedAt: documents.length === 0 ? null : Math.min(...documents.map(({ askedAt }) => askedAt)),
  }
}
