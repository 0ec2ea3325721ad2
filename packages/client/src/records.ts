// What the client gives back about tasks: core's own records without the tokens of leases. A token belongs to the holder of
// its lease alone, and the HTTP API does not show it. Whoever is straight on an engine has them anyway: there the records
// are core's, which are these and the token.

import type {
  Execution as CoreExecution,
  Explanation as CoreExplanation,
  Task as CoreTask,
  TaskState as CoreTaskState,
  Page,
} from '@reprise/core'

/** Of each member of a union by itself, so that it can still be told which one it is. */
type WithoutToken<T> = T extends unknown ? Omit<T, 'token'> : never

export type TaskState = WithoutToken<CoreTaskState>
export type Task = Omit<CoreTask, 'state'> & { readonly state: TaskState }
export type Execution = WithoutToken<CoreExecution>
export type Explanation = Omit<CoreExplanation, 'task'> & { readonly task: Task }

export interface SearchPage extends Page<Task> {
  /** How many tasks were looked at for this page. */
  readonly scanned: number
}
