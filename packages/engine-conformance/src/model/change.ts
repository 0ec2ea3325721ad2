// What operators do to tasks: redrive, discard, cancel, promote and revert many, and the retry of one task within its budget.
// A change goes over the tasks in order, changes at most its limit, and says where to go on.

import {
  BATCH_MAX,
  type By,
  type ChangeKind,
  type ChangeRequest,
  type ChangeResult,
  type JournalEntry,
  present,
  type RetryRequest,
  type RetryResult,
  type TaskId,
  type TaskSelector,
  type TaskStatus,
} from '@reprise/core'
import { checkChange, operatorRetries, pageCursor, scopeMatches } from '@reprise/core/engine'
import { checkBatch, checkLimit } from './checks.ts'
import { fingerprintOfDead } from './dead-letter.ts'
import { note, tally } from './journal.ts'
import { enqueue } from './lane.ts'
import type { State, TaskRecord } from './state.ts'
import { KEY_LOST } from './submit.ts'

interface Change {
  readonly from: readonly TaskStatus[]
  readonly isFor?: (task: TaskRecord) => boolean
  readonly apply: (state: State, task: TaskRecord, by: By) => void
}

const CHANGES: Readonly<Record<ChangeKind, Change>> = {
  redrive: {
    from: ['dead'],
    apply(state, task, by) {
      task.generation++
      task.attemptsBefore = task.attempt
      task.failures = 0
      task.losses = 0
      task.parks = 0
      task.deferrals = 0
      task.policy = null
      task.retryReason = 'manual'
      enqueue(state, task, 'at the end')
      noteTask(state, task, 'task.redriven', by, { generation: task.generation, ...keyNote(task) })
    },
  },
  discard: {
    from: ['dead'],
    apply(state, task, by) {
      const fingerprint = task.diedOf
      task.state = { status: 'discarded', at: state.now }
      noteTask(state, task, 'task.discarded', by, { fingerprint })
    },
  },
  cancel: {
    from: ['queued', 'waiting', 'running'],
    apply(state, task, by) {
      const from = task.state.status
      const execution = task.executions.get(task.attempt)
      if (execution?.status === 'running') {
        task.executions.set(task.attempt, { ...execution, status: 'cancelled', resolvedAt: state.now })
      }
      task.state = { status: 'cancelled', at: state.now }
      tally(state, task, 'cancelled')
      noteTask(state, task, 'task.cancelled', by, { from, ...(task.diedOf === null ? {} : { diedOf: task.diedOf }) })
    },
  },
  promote: {
    from: ['waiting'],
    apply(state, task, by) {
      enqueue(state, task, 'at the end')
      noteTask(state, task, 'task.promoted', by, {})
    },
  },
  revert: {
    from: ['queued', 'waiting', 'discarded'],
    isFor: (task) =>
      (task.state.status === 'discarded' || (task.generation > 1 && task.attempt === task.attemptsBefore)) &&
      task.executions.get(task.attempt)?.decision?.kind === 'dead',
    apply(state, task, by) {
      const from = task.state.status
      const { decision, failure, resolvedAt } = task.executions.get(task.attempt) ?? {}
      if (decision?.kind !== 'dead' || !failure) return
      task.state = { status: 'dead', at: resolvedAt ?? 0, reason: decision.reason, failure }
      task.retryReason = null
      noteTask(state, task, 'task.reverted', by, { from, fingerprint: failure.fingerprint })
    },
  },
}

export function change(state: State, request: ChangeRequest): ChangeResult {
  checkChange(request)
  const { from, isFor, apply } = CHANGES[request.kind]
  const limit = checkLimit(request.limit ?? BATCH_MAX)
  const after = pageCursor(request) ?? 0
  const changed: TaskId[] = []
  let last = after
  for (const { position, task, generation } of candidates(state, request.select)) {
    if (position <= after) continue
    if (changed.length === limit) return { changed, next: String(last) }
    last = position
    if (task === undefined || !from.includes(task.state.status) || isFor?.(task) === false) continue
    if (generation !== undefined && generation !== task.generation) continue
    apply(state, task, request.by)
    state.changes++
    changed.push(task.snapshot.id)
  }
  return { changed, next: null }
}

/** The tasks to look at, each with a place that a cursor can name. */
function candidates(
  state: State,
  select: TaskSelector,
): readonly {
  readonly position: number
  readonly task: TaskRecord | undefined
  readonly generation?: number | undefined
}[] {
  if ('ids' in select) {
    checkBatch(select.ids, 'task ids')
    const { ids, generations } = select
    return ids.map((id, at) => ({ position: at + 1, task: state.tasks.get(id), generation: generations?.[at] }))
  }
  return [...state.tasks.values()]
    .filter((task) => scopeMatches(select, task.lane))
    .filter((task) => select.fingerprint === undefined || fingerprintOfDead(task) === select.fingerprint)
    .map((task) => ({ position: task.seq, task }))
}

export function retry(state: State, id: TaskId, { by, maxRetries, policy }: RetryRequest): RetryResult {
  const task = state.tasks.get(id)
  const latest = task === undefined ? undefined : latestExecution(task)
  if (task === undefined || latest === undefined) return { outcome: 'not_found' }
  if (latest.status !== 'failed') return { outcome: 'wrong_status', status: latest.status }
  const { status } = task.state
  if (status !== 'dead' && status !== 'waiting') return { outcome: 'wrong_status', status }
  const budget = operatorRetries(task.snapshot.settings, maxRetries)
  if (task.failures > budget) return { outcome: 'exhausted', budget }
  const attempt = task.attempt + 1
  task.retryReason = 'manual'
  task.policy = policy ?? task.policy
  enqueue(state, task, 'at the end')
  noteTask(state, task, 'task.retried', by, { attempt, ...present({ policy }), ...keyNote(task) })
  return { outcome: 'queued', attempt }
}

export const latestExecution = (task: TaskRecord) => task.executions.get(Math.max(...task.executions.keys()))

/** Whether it goes on without its dedupe key, because another task has taken that. */
const keyNote = ({ keyUntil }: TaskRecord) => (keyUntil === KEY_LOST ? { withoutKey: true } : {})

function noteTask(
  state: State,
  task: TaskRecord,
  type: 'task.redriven' | 'task.retried' | 'task.cancelled' | 'task.discarded' | 'task.promoted' | 'task.reverted',
  by: By,
  data: JournalEntry['data'],
): void {
  const attempt = task.attempt === 0 ? null : task.attempt
  note(state, { type, taskId: task.snapshot.id, attempt, actor: by.actor, reason: by.reason, data })
}
