// What a client needs of the store or the server that it talks to: the hot path, streams, and one way to call any operation of
// the table. Two implementations: one straight on an engine, one that speaks HTTP.

import type {
  DeadReason,
  Failure,
  OpenSetting,
  PoolName,
  SubmitResult,
  TaskId,
  TaskSettings,
  TaskSpec,
  TenantId,
} from '@reprise/core'
import type { OperationName, OperationOutput } from '@reprise/operations'

/** A task to submit. Pool and settings are null where only the action's name is known: those that it declares then count. */
export interface Submission extends Omit<TaskSpec, 'pool' | 'settings' | 'tenant'> {
  readonly pool: PoolName | null
  readonly settings: TaskSettings | null
  /** Which of the settings the action left to the system. */
  readonly leftOpen?: readonly OpenSetting[] | undefined
  /** Null where nobody said: the one that the caller's rights are about, or the default. */
  readonly tenant: TenantId | null
  /** Asks for an event at its end, beside what its settings say. */
  readonly notify?: true
}

export interface WaitLimits {
  readonly timeoutMs: number | null
  readonly signal: AbortSignal | null
}

/** How a task ended. */
export type End =
  | { readonly status: 'succeeded'; readonly result: unknown }
  | { readonly status: 'dead'; readonly reason: DeadReason; readonly failure: Failure }
  | { readonly status: 'cancelled' | 'discarded' }

/** An event of the journal as it is followed. */
export type LiveEvent = OperationOutput<'listEvents'>['items'][number] & {
  /** Watching again from here misses nothing that comes after this event. The event itself may come again. */
  readonly cursor: string
}

export interface WatchRequest {
  /** From now on if null. */
  readonly cursor: string | null
  readonly taskId: TaskId | null
  /** Types such as `execution.failed`, or families such as `task.*`; all if empty. */
  readonly types: readonly string[]
  readonly signal: AbortSignal | null
  /** Hears whether the connection stands, whenever it comes or goes. */
  readonly onConnection: ((stands: boolean) => void) | null
}

export type OperationCall = readonly [name: OperationName, input: object, signal: AbortSignal | undefined]

export interface Backend {
  submit(submissions: readonly Submission[]): Promise<readonly SubmitResult[]>
  /** How the task ended, once it has. */
  ended(id: TaskId, limits: WaitLimits): Promise<End>
  watch(request: WatchRequest): AsyncGenerator<LiveEvent>
  call(...call: OperationCall): Promise<unknown>
  /** As `call`, for an operation that answers with a stream of values. */
  lines(...call: OperationCall): AsyncGenerator<unknown>
  close(): Promise<void>
}
