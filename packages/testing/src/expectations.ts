// How a task must have ended, or where it or a breaker must stand, as assertions whose messages tell what happened instead.

import { AssertionError } from 'node:assert'
import type { TaskHandle } from '@reprise/client'
import {
  allPages,
  type Breaker,
  type BreakerState,
  type DeadReason,
  decodeJson,
  type Observing,
  type Task,
  taskId,
} from '@reprise/core'

/** A handle, or the id of a task. */
export type TaskRef<Result = unknown> = Pick<TaskHandle<Result>, 'id' | 'result'> | string

/** A task with its payload as a value. */
export type ShownTask = Omit<Task, 'payload'> & { readonly payload: unknown }

const shown = (task: Task): ShownTask => ({ ...task, payload: decodeJson(task.payload) })

export interface DeadExpectation {
  /** Why automatic retries ended: 'not_retriable', 'retries_exhausted', 'crash_loop', 'deadline', 'outcome_unknown'. */
  readonly reason?: DeadReason
  /** The code of the last failure: 'timeout', 'ECONNREFUSED'. */
  readonly code?: string
}

export async function expectSucceeded<Result>(engine: Observing, ref: TaskRef<Result>): Promise<Result> {
  const task = await existing(engine, ref)
  const { state } = task
  if (state.status !== 'succeeded') throw unexpected(task, 'succeeded', expectSucceeded)
  // The type is the word of the handle's maker.
  return (state.result === null ? null : decodeJson(state.result)) as Result
}

export async function expectDead(engine: Observing, ref: TaskRef, expected: DeadExpectation): Promise<ShownTask> {
  const task = await existing(engine, ref)
  const { state } = task
  if (state.status !== 'dead') throw unexpected(task, 'dead', expectDead)
  const { reason = state.reason, code = state.failure.code } = expected
  if (reason !== state.reason || code !== state.failure.code) {
    throw unexpected(task, `dead (${reason}, ${code})`, expectDead)
  }
  return shown(task)
}

/** Held back by a breaker after an attempt that was not charged. */
export async function expectParked(engine: Observing, ref: TaskRef): Promise<ShownTask> {
  const task = await existing(engine, ref)
  if (task.state.status !== 'queued' || task.parks === 0) throw unexpected(task, 'parked', expectParked)
  return shown(task)
}

/** Null stands for a closed breaker that nobody remembers. */
export async function expectBreaker(
  engine: Observing,
  name: string,
  status: BreakerState['status'],
): Promise<Breaker | null> {
  const found = await breakerOf(engine, name)
  const actual = found?.state.status ?? 'closed'
  if (actual === status) return found
  throw new AssertionError({
    message: `Breaker '${name}' should be ${status}, but is ${actual}`,
    actual,
    expected: status,
    operator: 'reprise',
    stackStartFn: expectBreaker,
  })
}

async function breakerOf(engine: Observing, name: string): Promise<Breaker | null> {
  const { items } = await allPages((page) => engine.breakers(page), Number.POSITIVE_INFINITY)
  return items.find((breaker) => breaker.name === name) ?? null
}

async function existing(engine: Observing, ref: TaskRef): Promise<Task> {
  const id = taskId(typeof ref === 'string' ? ref : ref.id)
  const task = await engine.task(id)
  if (task === null) throw new AssertionError({ message: `There is no task '${id}'.` })
  return task
}

function unexpected(task: Task, expected: string, stackStartFn: (...input: never[]) => unknown): AssertionError {
  const { state } = task
  const found = state.status === 'dead' ? `dead (${state.reason}, ${state.failure.code})` : state.status
  const detail = state.status === 'dead' ? `: ${state.failure.message}` : ''
  return new AssertionError({
    message: `Task '${task.id}' of action '${task.action}' should be ${expected}, but is ${found}${detail}`,
    actual: found,
    expected,
    operator: 'reprise',
    stackStartFn,
  })
}
