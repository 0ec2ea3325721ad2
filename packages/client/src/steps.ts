// Large work in bounded pieces: what one call may take is limited by count and by length, and a change of many tasks is made
// step by step until nothing is left.

import { BATCH_MAX, type TaskId } from '@reprise/core'
import type { BulkRequest, BulkResult, Submission } from './backend.ts'

/** Past so many characters of payload a batch is sent, however few tasks it has: nobody should hold the store for long. */
const BATCH_LENGTH_MAX = 4_000_000

export function* batches(submissions: readonly Submission[]): Generator<Submission[]> {
  let batch: Submission[] = []
  let length = 0
  for (const submission of submissions) {
    if (batch.length === BATCH_MAX || (batch.length > 0 && length + submission.payload.length > BATCH_LENGTH_MAX)) {
      yield batch
      batch = []
      length = 0
    }
    batch.push(submission)
    length += submission.payload.length
  }
  if (batch.length > 0) yield batch
}

/** With a limit, one bounded step that can be gone on from; without one, as many steps as it takes. */
export async function inSteps(
  request: BulkRequest,
  step: (request: BulkRequest) => Promise<BulkResult>,
): Promise<BulkResult> {
  if (request.limit !== undefined) return step(request)
  const changed: TaskId[] = []
  if ('ids' in request.select && request.select.ids.length > BATCH_MAX) {
    const { ids } = request.select
    for (let start = 0; start < ids.length; start += BATCH_MAX) {
      changed.push(...(await step({ ...request, select: { ids: ids.slice(start, start + BATCH_MAX) } })).changed)
    }
    return { changed, next: null }
  }
  let next: string | null = request.cursor ?? null
  do {
    const result: BulkResult = await step(next === null ? request : { ...request, cursor: next })
    changed.push(...result.changed)
    next = result.next
  } while (next !== null)
  return { changed, next }
}
