// What waiting for the end of a task has in common, over HTTP and on an engine.

import { formatDuration, isRepriseError, type TaskId, TimedOutError } from '@reprise/core'

export const timedOut = (id: TaskId, timeoutMs: number): TimedOutError =>
  new TimedOutError(`Task '${id}' did not end within ${formatDuration(timeoutMs)}. It goes on; ask again later.`)

/** A store or a server that is away comes back; a closed one, or a mistake of ours, does not. */
export const isPassing = (error: unknown): boolean =>
  isRepriseError(error) && (error.status >= 500 || error.status === 429) && error.code !== 'REPRISE_STORE_CLOSED'

export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error('The wait was aborted.', { cause: thrown })
