// What commands give to programs: the JSON forms of the HTTP API, made by the contract's own functions. A command therefore
// writes the same whether it talks to a server or straight to a store. Loads the contract: commands import it when they run.

import type {
  Execution as ClientExecution,
  Explanation as ClientExplanation,
  Task as ClientTask,
  FailureGroup,
  Flag,
  Token,
} from '@reprise/client'
import { executionView, explanationView, failureGroupView, taskView } from '@reprise/contract'
import type { Execution, Explanation, Task } from '@reprise/core'

export type TaskRecord = ReturnType<typeof taskRecord>
export type ExecutionRecord = ReturnType<typeof executionRecord>
export type GroupRecord = ReturnType<typeof groupRecord>

// The views take core's records, of which the client's are all but the lease token; and that is what they leave out.
export const taskRecord = (task: ClientTask) => taskView(task as Task)
export const executionRecord = (execution: ClientExecution) => executionView(execution as Execution)
export const explanationRecord = (explanation: ClientExplanation) => explanationView(explanation as Explanation)
export const groupRecord = (group: FailureGroup) => failureGroupView(group)

/** A server says more about a flag than a store does. */
export const flagRecord = ({ name, on, description }: Flag): Flag => ({ name, on, description })

export function tokenRecord(token: Token): Token {
  const { id, name, scopes, tenants, createdBy, createdAt, expiresAt, lastUsedAt } = token
  return { id, name, scopes, tenants, createdBy, createdAt, expiresAt, lastUsedAt }
}
