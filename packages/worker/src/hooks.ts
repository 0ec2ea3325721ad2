// What an application can listen to, and the logger and policies it brings. A hook that throws is reported and otherwise
// ignored, a logger that throws is ignored, policies that can't be had are those of before: an application's mistake
// beside its handlers must not lose a task.

import {
  type ActionName,
  checkedBook,
  type Decision,
  type Failure,
  type Logger,
  type PolicyBook,
  type PolicySource,
  type Settlement,
  type TaskId,
  type TaskStatus,
} from '@reprise/core'

/** An execution of this worker was settled in the store. */
export interface SettledEvent {
  readonly taskId: TaskId
  readonly attempt: number
  readonly action: ActionName
  readonly kind: Settlement['kind']
  /** Where the task went. */
  readonly status: TaskStatus
}

export interface FailedEvent extends SettledEvent {
  readonly failure: Failure
  readonly decision: Decision
}

/** What a hook returns or throws, now or later, changes nothing. */
export interface WorkerHooks {
  readonly onSettled?: (event: SettledEvent) => unknown
  readonly onFailed?: (event: FailedEvent) => unknown
  /** Store errors (the worker goes on), and the two that end it: fenced, engine closed. */
  readonly onError?: (error: unknown) => unknown
}

/** Calls a hook, if there is one, and survives it. */
export function callHook<Event>(hook: ((event: Event) => unknown) | undefined, event: Event, log: Logger): void {
  if (hook === undefined) return
  const threw = (error: unknown): void => log.error('A hook of the worker threw.', { error })
  try {
    const answer = hook(event)
    if (answer instanceof Promise) answer.catch(threw)
  } catch (error) {
    threw(error)
  }
}

/** The same policies, for a worker that must go on even if they can't be had. Throws only here, for a first book. */
export function guardedPolicies(source: PolicySource, log: Logger): PolicySource {
  let last: PolicyBook = checkedBook(source.current())
  let isTold = false
  return {
    current() {
      try {
        const book = source.current()
        if (book !== last) last = checkedBook(book)
        isTold = false
      } catch (error) {
        if (!isTold) log.error("The policies can't be had; those of before stay in force.", { error })
        isTold = true
      }
      return last
    },
  }
}
