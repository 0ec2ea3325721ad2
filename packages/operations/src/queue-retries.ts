// The operator's retry of a task that came by an outside queue (A10): the captured snapshot goes back to that queue with the
// next attempt, by way of the outbox of the store. What may be retried is the same as for any task (A8, A9).

import {
  type By,
  type Engine,
  latestForTask,
  type OutsideQueue,
  operatorMayRetry,
  type RetryResult,
  type Task,
} from '@reprise/core'
import { askRetry, QUEUE_LABEL, refuseTooLarge, retryMessage } from '@reprise/orchestrator'
import { queueError } from './queues.ts'

export interface QueueRetry {
  readonly by: By
  readonly maxRetries: number
  /** MAX_RETRIES, by which a consumer drops what is above its ceiling (A6). */
  readonly ceiling: number
}

/** Null if the task did not come by this queue, or a consumer would drop its message: then the store's own queue takes it. */
export async function retryByQueue(
  engine: Engine,
  queue: OutsideQueue,
  { id, labels }: Task,
  { by, maxRetries, ceiling }: QueueRetry,
): Promise<RetryResult | null> {
  if (labels[QUEUE_LABEL] !== queue.name) return null
  const [task, latest] = await Promise.all([engine.task(id), latestForTask(engine, id)])
  if (task === null || latest === null) return { outcome: 'not_found' }
  if (latest.status !== 'failed') return { outcome: 'wrong_status', status: latest.status }
  const { status } = task.state
  if (status !== 'dead' && status !== 'waiting') return { outcome: 'wrong_status', status }
  // The store says so, in its own words.
  if (!operatorMayRetry(task.settings, task, Math.min(maxRetries, ceiling))) return null
  const attempt = task.attempt + 1
  const { maxMessageBytes } = await queue.facts().catch((error: unknown) => Promise.reject(queueError(queue, error)))
  refuseTooLarge(retryMessage(task, attempt), maxMessageBytes)
  const isAsked = await askRetry(engine, { queue: queue.name, taskId: id, attempt, by })
  return isAsked ? { outcome: 'queued', attempt } : { outcome: 'wrong_status', status: 'queued' }
}
