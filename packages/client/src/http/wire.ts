// From what the API shows back to core's types: JSON values become JSON text again. The shapes are those of the contract's
// views; they are not checked field by field here, since client and server are of one version or refuse each other's calls.

import type { Failure, FailureGroup, JournalEntry, JsonText, Page, Snapshot, TaskId } from '@reprise/core'
import { bareType } from '../event-types.ts'
import type { Execution, Explanation, Task, TaskState } from '../records.ts'
import { notReprise } from './problems.ts'

type Loose<T, Key extends keyof T> = Omit<T, Key> & { readonly [K in Key]: unknown }

type FailureWire = Loose<Failure, 'details'>
type SnapshotWire = Loose<Snapshot, 'payload'>
type StateWire =
  | Exclude<TaskState, { readonly status: 'succeeded' | 'dead' }>
  | Loose<Extract<TaskState, { readonly status: 'succeeded' }>, 'result'>
  | (Omit<Extract<TaskState, { readonly status: 'dead' }>, 'failure'> & { readonly failure: FailureWire })
export type TaskWire = Omit<Task, 'payload' | 'state'> & { readonly payload: unknown; readonly state: StateWire }
export type ExecutionWire = Omit<Execution, 'failure' | 'taskSnapshot'> & {
  readonly failure: FailureWire | null
  readonly taskSnapshot: SnapshotWire
  readonly chain?: unknown
}
export type ExplanationWire = Omit<Explanation, 'task'> & { readonly task: TaskWire }
export type FailureGroupWire = Omit<FailureGroup, 'sample'> & { readonly sample: FailureWire }
export interface EventWire {
  readonly id: string
  readonly type: string
  readonly time: string
  readonly data: {
    readonly taskId: TaskId | null
    readonly attempt: number | null
    readonly actor: string
    readonly reason: string
    readonly details: JournalEntry['data']
  }
}

/** Null stands for nothing as well as for JSON's null: the API does not tell them apart. */
const jsonText = (value: unknown): JsonText | null =>
  value === null || value === undefined ? null : (JSON.stringify(value) as JsonText)

export function failureOf(wire: FailureWire): Failure {
  return { ...wire, details: jsonText(wire.details) }
}

function stateOf(wire: StateWire): TaskState {
  switch (wire.status) {
    case 'succeeded':
      return { ...wire, result: jsonText(wire.result) }
    case 'dead':
      return { ...wire, failure: failureOf(wire.failure) }
    default:
      return wire
  }
}

const payloadOf = (value: unknown): JsonText => JSON.stringify(value ?? null) as JsonText

export function taskOf(wire: TaskWire): Task {
  return { ...wire, payload: payloadOf(wire.payload), state: stateOf(wire.state) }
}

export function executionOf({ chain: _known, ...wire }: ExecutionWire): Execution {
  const taskSnapshot = { ...wire.taskSnapshot, payload: payloadOf(wire.taskSnapshot.payload) }
  const failure = wire.failure === null ? null : failureOf(wire.failure)
  // Which fields belong to which status is the server's word.
  return { ...wire, taskSnapshot, failure } as Execution
}

export function explanationOf(wire: ExplanationWire): Explanation {
  return { ...wire, task: taskOf(wire.task) }
}

export function failureGroupOf(wire: FailureGroupWire): FailureGroup {
  return { ...wire, sample: failureOf(wire.sample) }
}

export function entryOf({ id, type, time, data }: EventWire): JournalEntry {
  return {
    id,
    type: bareType(type) as JournalEntry['type'],
    at: Date.parse(time),
    taskId: data.taskId,
    attempt: data.attempt,
    actor: data.actor,
    reason: data.reason,
    data: data.details,
  }
}

/** An answer that is an object, in the type that the contract promises for it. */
export function objectOf<T extends object>(body: unknown, whom: string): T {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw notReprise(whom)
  return body as T
}

/** One line of a stream, as `objectOf`. */
export function parsedObject<T extends object>(text: string, whom: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notReprise(whom)
  }
  return objectOf<T>(value, whom)
}

export function pageOf<Wire, T>(body: unknown, whom: string, map: (wire: Wire) => T): Page<T> {
  const { items, next } = objectOf<Page<Wire>>(body, whom)
  if (!Array.isArray(items)) throw notReprise(whom)
  return { items: items.map(map), next: next ?? null }
}
