// The logs of attempts: brought by renewals, kept of the last attempts of a task, deleted with the attempt or the task.

import type { TaskId, TaskLog } from '@reprise/core'
import { LOG_ATTEMPTS_MAX, parseAttemptLog } from '@reprise/core/engine'
import type { Database } from './database.ts'

export function saveLog(db: Database, seq: number, attempt: number, text: string): void {
  db.run('saveLog', seq, attempt, text)
  if (attempt > LOG_ATTEMPTS_MAX) db.run('deleteLogsUpTo', seq, attempt - LOG_ATTEMPTS_MAX)
}

/** Oldest attempt first. */
export function logsOf(db: Database, id: TaskId): TaskLog[] {
  return db.all<{ attempt: number; log: string }>('logsOf', id).map(({ attempt, log }) => {
    return { attempt, ...parseAttemptLog(log) }
  })
}
