// What operators do to tasks: redrive, discard, cancel, promote and revert in bulk, and the retry of one. A script looks at a
// bounded number of tasks; while it finds nothing to change, the next one goes on where it stopped.

import {
  BATCH_MAX,
  type ChangeRequest,
  type ChangeResult,
  type RetryRequest,
  type RetryResult,
  StoreFailedError,
  type TaskId,
  type TaskSelector,
} from '@reprise/core'
import { checkChange, checkLimit, pageCursor } from '@reprise/core/engine'
import { asTexts, type Partition } from './partition.ts'
import { changeScript, retryScript } from './scripts.generated.ts'
import { given, givenScope } from './tasks.ts'

/** How often one call goes on looking; then the caller, who has the cursor, decides whether to. */
const ROUNDS_MAX = 50

export async function change(partition: Partition, request: ChangeRequest): Promise<ChangeResult> {
  const limit = request.limit ?? BATCH_MAX
  checkLimit(limit)
  checkChange(request)
  const after = pageCursor(request) ?? 0
  const { kind, select, by } = request
  const step: Step = async (left, rest) => {
    const args = [kind, by.actor, by.reason, String(left), ...rest]
    const [next = '', ...changed] = asTexts(await partition.once(changeScript, args))
    return { next: next === '' ? null : Number(next), changed: changed as TaskId[] }
  }
  if ('ids' in select) {
    return overIds(step, select, after, limit)
  }
  const { fingerprint } = select
  // Only dead letters have one: a fingerprint names nothing that could be cancelled or promoted.
  if (fingerprint !== undefined && (kind === 'cancel' || kind === 'promote')) return { changed: [], next: null }
  return overAll(step, [...givenScope(select), given(fingerprint)], after, limit)
}

/** One script call: changes a bounded number; where to go on is null when nothing is left. */
type Step = (
  left: number,
  rest: readonly string[],
) => Promise<{ readonly next: number | null; readonly changed: readonly TaskId[] }>

async function overIds(
  step: Step,
  { ids, generations }: Extract<TaskSelector, { readonly ids: readonly TaskId[] }>,
  after: number,
  limit: number,
): Promise<ChangeResult> {
  const changed: TaskId[] = []
  for (let position = after; position < ids.length; ) {
    if (changed.length === limit) return { changed, next: String(position) }
    const from = position
    const named =
      generations === undefined
        ? ['ids', ...ids.slice(from)]
        : ['fenced', ...ids.slice(from).flatMap((id, at) => [id, String(generations[from + at])])]
    const result = await step(limit - changed.length, named)
    changed.push(...result.changed)
    position = result.next === null ? ids.length : position + result.next
  }
  return { changed, next: null }
}

/** Comes back with the first tasks that were changed: what a caller hears of is one atomic step. */
async function overAll(step: Step, which: readonly string[], after: number, limit: number): Promise<ChangeResult> {
  let position = after
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const { next, changed } = await step(limit, ['all', String(position), ...which])
    if (next === null) return { changed, next }
    if (changed.length > 0) return { changed, next: String(next) }
    position = next
  }
  return { changed: [], next: String(position) }
}

/** An operator's retry of one failed task, within its budget (A8, A9). */
export async function retry(
  partition: Partition,
  id: TaskId,
  { by, maxRetries, policy = '' }: RetryRequest,
): Promise<RetryResult> {
  const args = [id, String(maxRetries), by.actor, by.reason, policy]
  const [outcome, detail = ''] = asTexts(await partition.once(retryScript, args))
  switch (outcome) {
    case 'queued':
      return { outcome, attempt: Number(detail) }
    case 'exhausted':
      return { outcome, budget: Number(detail) }
    case 'wrong_status':
      return { outcome, status: detail as Extract<RetryResult, { outcome: 'wrong_status' }>['status'] }
    case 'not_found':
      return { outcome }
    default:
      throw new StoreFailedError(`A retry was answered with '${outcome}'.`)
  }
}
