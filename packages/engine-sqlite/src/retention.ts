// Deleting what the rules no longer keep: a bounded number of rows per call, and never a dead letter.

import { BATCH_MAX, InvalidError, type RetainResult, type RetentionRules, SERIES_STEP_MS } from '@reprise/core'
import { CANCELLED, DISCARDED, SUCCEEDED } from './rows.ts'
import { checkBatch } from './submit.ts'
import type { Transaction } from './transaction.ts'

const SILENT_WORKER_MS = 86_400_000

interface WindowRow {
  readonly seq: number
  readonly status: number
  readonly since: number
  readonly lane: number
}

export function retain(
  transaction: Transaction,
  rules: RetentionRules,
  options: { readonly limit?: number; readonly cursor?: string },
): RetainResult {
  const { db, now } = transaction
  const limit = options.limit ?? BATCH_MAX
  if (!Number.isInteger(limit) || limit < 1)
    throw new InvalidError(`Retention looks at 1 task or more per call, not ${limit}.`)
  checkBatch(limit)
  const after = Number(options.cursor ?? 0)
  if (!Number.isSafeInteger(after)) throw new InvalidError('The cursor is not one that this store gave out.')
  const looked = db.all<WindowRow>('retentionWindow', after, limit)
  const keepMs: Readonly<Record<number, number | undefined>> = {
    [SUCCEEDED]: rules.succeededMs,
    [CANCELLED]: rules.cancelledMs,
    [DISCARDED]: rules.discardedMs,
  }
  const old = looked.filter(({ status, since }) => {
    const ms = keepMs[status]
    return ms !== undefined && since <= now - ms
  })
  removeTasks(transaction, old)
  const entriesRemoved =
    rules.journalMs === undefined ? 0 : db.run('deleteJournalBefore', now - rules.journalMs, limit).changes
  if (rules.seriesMs !== undefined)
    db.run('deleteMinutesBefore', Math.floor((now - rules.seriesMs) / SERIES_STEP_MS), limit)
  db.run('deleteSilentWorkers', now - SILENT_WORKER_MS)
  return {
    tasksRemoved: old.length,
    entriesRemoved,
    next: looked.length === limit ? String(looked.at(-1)?.seq ?? after) : null,
  }
}

function removeTasks(transaction: Transaction, rows: readonly WindowRow[]): void {
  if (rows.length === 0) return
  const { db } = transaction
  const seqs = JSON.stringify(rows.map(({ seq }) => seq))
  for (const key of db.all<{ tenant: string; dedupe_key: string }>('dedupeKeysOf', seqs))
    db.run('deleteDedupe', key.tenant, key.dedupe_key)
  for (const statement of ['deleteExecutions', 'deletePayloads', 'deleteTasks'] as const) db.run(statement, seqs)
  for (const row of rows) {
    const from = row.status === SUCCEEDED ? 'succeeded' : row.status === CANCELLED ? 'cancelled' : 'discarded'
    transaction.move(transaction.lane(row.lane), from, 'removed')
  }
  transaction.journal({
    type: 'tasks.removed',
    taskId: null,
    attempt: null,
    actor: 'retention',
    reason: 'kept long enough',
    data: { count: rows.length },
  })
}
