// What a handler gets beside its input. It may be taken apart ({ signal, progress }): the signal and the logger come into
// being only for a handler that uses them.

import type { Logger, LogLine, RetryToken, RunContext, TaskId, TenantId } from '@reprise/core'
import type { ActiveExecution } from './active-execution.ts'
import { lineText } from './console-logger.ts'

export class HandlerContext implements RunContext {
  readonly taskId: TaskId
  readonly tenant: TenantId
  readonly attempt: number
  readonly retryToken: RetryToken
  readonly labels: Readonly<Record<string, string>>
  readonly #execution: ActiveExecution
  readonly #log: Logger

  constructor(execution: ActiveExecution, log: Logger) {
    const { taskId, attempt, snapshot } = execution.claimed
    this.taskId = taskId
    this.tenant = snapshot.tenant
    this.attempt = attempt
    this.retryToken = snapshot.retryToken
    this.labels = snapshot.labels
    this.#execution = execution
    this.#log = log
  }

  get signal(): AbortSignal {
    return this.#execution.signal
  }

  get log(): Logger {
    const { taskId, attempt, snapshot } = this.#execution.claimed
    return keptLogger(this.#execution, this.#log, { task: taskId, attempt, action: snapshot.action })
  }

  get leaseMsLeft(): RunContext['leaseMsLeft'] {
    return () => this.#execution.leaseMsLeft
  }

  get stillMine(): RunContext['stillMine'] {
    return () => this.#execution.stillMine()
  }

  get progress(): RunContext['progress'] {
    return (fraction, note) => this.#execution.report(fraction, note)
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Writes to the worker's log, which is told the task, and keeps with the attempt what is more than for debugging. */
function keptLogger(execution: ActiveExecution, log: Logger, about: Fields): Logger {
  const at =
    (level: LogLine['level']): Logger['info'] =>
    (message, fields) => {
      log[level](message, { ...about, ...fields })
      execution.log(level, lineText(message, fields))
    }
  return {
    debug: (message, fields) => log.debug(message, { ...about, ...fields }),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  }
}
