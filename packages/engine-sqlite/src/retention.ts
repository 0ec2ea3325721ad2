// Deleting what the rules no longer keep: a bounded number of rows per call, and never a dead letter.

import { BATCH_MAX, type RetainResult, type RetentionRules, SERIES_STEP_MS } from '@reprise/core'
import { checkLimit, pageCursor, removedEntry } from '@reprise/core/engine'
import { forgetWorkers } from './registry.ts'
import { CANCELLED, DISCARDED } from './stored-numbers.ts'
import type { Transaction } from './transaction.ts'

interface WindowRow {
  readonly seq: number
  readonly status: number
  readonly since: number
  readonly lane: number
  readonly succeeded: number
  readonly dedupe_until: number | null
}

interface KeyRow {
  readonly tenant: string
  readonly action: string
  readonly dedupe_key: string
  readonly seq: number
}

export function retain(
  transaction: Transaction,
  rules: RetentionRules,
  options: { readonly limit?: number; readonly cursor?: string },
): RetainResult {
  const { db, now } = transaction
  const limit = options.limit ?? BATCH_MAX
  checkLimit(limit)
  const after = pageCursor(options) ?? 0
  const looked = db.all<WindowRow>('retentionWindow', after, limit)
  const old = looked.filter((row) => {
    const status = endOf(row)
    const keepMs = status === null ? undefined : rules[`${status}Ms`]
    // A task is kept while it holds its dedupe key.
    return keepMs !== undefined && row.since <= now - keepMs && (row.dedupe_until ?? 0) <= now
  })
  forgetWorkers(transaction)
  removeTasks(transaction, old)
  const entriesRemoved =
    rules.journalMs === undefined ? 0 : db.run('deleteJournalBefore', now - rules.journalMs, limit).changes
  if (rules.seriesMs !== undefined)
    db.run('deleteMinutesBefore', Math.floor((now - rules.seriesMs) / SERIES_STEP_MS), limit)
  db.run('deletePastQuotaWindows', now)
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
  for (const { tenant, action, dedupe_key, seq } of db.all<KeyRow>('dedupeKeysOf', seqs))
    db.run('deleteDedupe', tenant, action, dedupe_key, seq)
  for (const { lane, bytes } of db.all<{ lane: number; bytes: number }>('payloadBytesOf', seqs))
    transaction.lane(lane).bytes -= bytes
  db.run('setRemoving', 1)
  for (const statement of [
    'deleteLogs',
    'deleteExecutions',
    'deleteSuccesses',
    'deletePayloads',
    'deleteTasks',
  ] as const)
    db.run(statement, seqs)
  db.run('setRemoving', 0)
  for (const row of rows) {
    const status = endOf(row)
    if (status !== null) transaction.move(transaction.lane(row.lane), status, 'removed')
  }
  transaction.journal(removedEntry(rows.length))
}

/** The end a task has come to, if it is one that a rule can name: dead letters are kept for ever. */
function endOf(row: WindowRow): 'succeeded' | 'cancelled' | 'discarded' | null {
  if (row.succeeded === 1) return 'succeeded'
  if (row.status === CANCELLED) return 'cancelled'
  return row.status === DISCARDED ? 'discarded' : null
}
