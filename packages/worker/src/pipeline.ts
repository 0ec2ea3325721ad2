// Running one execution, as a pipeline of small steps: find the action, decode the input, validate it, call the
// handler, encode its result. Each step takes one record and returns the next; whatever any of them throws becomes a
// failure. No step touches the store: the end of it is handed to the execution, which knows how to settle.

import {
  decodeJson,
  describeFailure,
  encodeJson,
  type Failure,
  type FailureReason,
  InvalidError,
  type JsonText,
  type Logger,
  observedFailure,
  parseInput,
} from '@reprise/core'
import type { ActionRegistry, RunnableAction } from './action-registry.ts'
import type { ActiveExecution } from './active-execution.ts'
import { HandlerContext } from './handler-context.ts'

interface Found {
  readonly execution: ActiveExecution
  readonly action: RunnableAction
}

interface WithInput extends Found {
  readonly input: unknown
}

interface WithResult {
  readonly execution: ActiveExecution
  readonly value: unknown
}

/** Never rejects: it ends the execution one way or the other. */
export async function runExecution(execution: ActiveExecution, actions: ActionRegistry, log: Logger): Promise<void> {
  let result: JsonText | null
  execution.handlerRuns = true
  try {
    let ready = decodeInput(findAction(execution, actions))
    if (ready.action.input !== null) ready = await validateInput(ready)
    const value = await ready.action.run(ready.input, new HandlerContext(execution, log))
    result = encodeResult({ execution, value })
  } catch (thrown) {
    return execution.fail(failureOf(thrown, execution))
  }
  execution.succeed(result)
}

function findAction(execution: ActiveExecution, actions: ActionRegistry): Found {
  const name = execution.claimed.snapshot.action
  const action = actions.get(name)
  if (action === undefined) throw new StepFailed('action_not_found', `This worker has no action '${name}'.`)
  return { execution, action }
}

function decodeInput({ execution, action }: Found): WithInput {
  try {
    return { execution, action, input: decodeJson(execution.claimed.snapshot.payload) }
  } catch {
    throw new StepFailed('validation', 'The stored payload is not valid JSON.')
  }
}

async function validateInput({ execution, action, input }: WithInput): Promise<WithInput> {
  return { execution, action, input: await parseInput(action, input) }
}

/** Nothing returned is nothing stored. */
function encodeResult({ value }: WithResult): JsonText | null {
  if (value === undefined || value === null) return null
  try {
    return encodeJson(value, 'result')
  } catch (error) {
    const detail = error instanceof Error ? error.message : "The result can't be written as JSON."
    throw new StepFailed('validation', detail)
  }
}

function failureOf(thrown: unknown, execution: ActiveExecution): Failure {
  const { action } = execution.claimed.snapshot
  return isStepFailed(thrown) ? observedFailure(thrown.reason, thrown.message, action) : describeFailure(thrown, action)
}

// What a handler throws may be a proxy that throws in turn at any question.
function isStepFailed(thrown: unknown): thrown is StepFailed {
  try {
    return thrown instanceof StepFailed
  } catch {
    return false
  }
}

/** A failure that one of the steps found, rather than the handler. */
class StepFailed extends InvalidError {
  readonly reason: FailureReason

  constructor(reason: FailureReason, message: string) {
    super(message)
    this.reason = reason
  }
}
