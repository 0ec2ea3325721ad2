// What a handler gets beside its input. Everything is read lazily and may be taken apart ({ signal, progress }): the
// signal and the logger come into being only for a handler that uses them.

import type { Logger, RetryToken, RunContext, TaskId, TenantId } from '@reprise/core'
import type { ActiveExecution } from './active-execution.ts'

export class HandlerContext implements RunContext {
  readonly #execution: ActiveExecution
  readonly #log: Logger

  constructor(execution: ActiveExecution, log: Logger) {
    this.#execution = execution
    this.#log = log
  }

  get taskId(): TaskId {
    return this.#execution.claimed.taskId
  }

  get tenant(): TenantId {
    return this.#execution.claimed.snapshot.tenant
  }

  get attempt(): number {
    return this.#execution.claimed.attempt
  }

  get retryToken(): RetryToken {
    return this.#execution.claimed.snapshot.retryToken
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#execution.claimed.snapshot.labels
  }

  get signal(): AbortSignal {
    return this.#execution.signal
  }

  get log(): Logger {
    const { taskId, attempt, snapshot } = this.#execution.claimed
    return withFields(this.#log, { task: taskId, attempt, action: snapshot.action })
  }

  get progress(): RunContext['progress'] {
    return (fraction, note) => this.#execution.report(fraction, note)
  }
}

type Fields = Readonly<Record<string, unknown>>

function withFields(log: Logger, fields: Fields): Logger {
  return {
    debug: (message, more) => log.debug(message, { ...fields, ...more }),
    info: (message, more) => log.info(message, { ...fields, ...more }),
    warn: (message, more) => log.warn(message, { ...fields, ...more }),
    error: (message, more) => log.error(message, { ...fields, ...more }),
  }
}
