// Deleting what the rules no longer keep, a bounded number per call. Dead letters are kept whatever the rules say.

import { BATCH_MAX, type RetainResult, type RetentionRules, SERIES_STEP_MS } from '@reprise/core'
import { DEPARTED_MS, pageCursor, removedEntry, WORKER_SILENT_MS, workerEntry } from '@reprise/core/engine'
import { checkLimit } from './checks.ts'
import { note } from './journal.ts'
import type { State, TaskRecord } from './state.ts'
import { holdsKey } from './submit.ts'

export function retain(
  state: State,
  rules: RetentionRules,
  options: { readonly limit?: number; readonly cursor?: string } = {},
): RetainResult {
  const limit = checkLimit(options.limit ?? BATCH_MAX)
  const after = pageCursor(options) ?? 0
  const rest = [...state.tasks.values()].filter((task) => task.seq > after)
  const seen = rest.slice(0, limit)
  const outdated = seen.filter((task) => isOutdated(state, task, rules) && !holdsKey(state, task))
  for (const task of outdated) {
    state.tasks.delete(task.snapshot.id)
    task.lane.removed++
  }
  const entriesRemoved = forgetEntries(state, rules.journalMs, limit)
  forgetMinutes(state, rules.seriesMs)
  forgetWorkers(state)
  if (outdated.length > 0) note(state, removedEntry(outdated.length))
  const next = rest.length > limit ? String(seen.at(-1)?.seq) : null
  return { tasksRemoved: outdated.length, entriesRemoved, next }
}

function forgetWorkers(state: State): void {
  const silent = [...state.workers.values()].filter(({ lastBeatAt }) => state.now - lastBeatAt >= WORKER_SILENT_MS)
  for (const record of silent.sort((a, b) => (a.worker < b.worker ? -1 : 1))) {
    state.workers.delete(record.worker)
    note(state, workerEntry('worker.left', record, 'silent'))
  }
  for (const { worker, leftAt } of state.departed.values()) {
    if (state.now - leftAt >= DEPARTED_MS) state.departed.delete(worker)
  }
}

function isOutdated({ now }: State, { state }: TaskRecord, rules: RetentionRules): boolean {
  switch (state.status) {
    case 'succeeded':
      return rules.succeededMs !== undefined && now - state.at >= rules.succeededMs
    case 'cancelled':
      return rules.cancelledMs !== undefined && now - state.at >= rules.cancelledMs
    case 'discarded':
      return rules.discardedMs !== undefined && now - state.at >= rules.discardedMs
    case 'queued':
    case 'waiting':
    case 'running':
    case 'dead':
      return false
  }
}

function forgetEntries(state: State, journalMs: number | undefined, limit: number): number {
  if (journalMs === undefined) return 0
  const old = state.journal.filter((entry) => state.now - entry.at >= journalMs).slice(0, limit)
  state.journal = state.journal.filter((entry) => !old.includes(entry))
  return old.length
}

function forgetMinutes(state: State, seriesMs: number | undefined): void {
  if (seriesMs === undefined) return
  // A minute is as old as its end.
  state.events = state.events.filter(({ minute }) => state.now - (minute + SERIES_STEP_MS) < seriesMs)
}
