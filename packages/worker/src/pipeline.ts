// Running one execution, as a pipeline of small steps: find the action, decode the input, validate it, ask what became
// of a lost attempt where that matters, call the handler, encode its result. What a step throws becomes a failure. No step
// touches the store: the end is handed to the execution, which knows how to settle.

import {
  checkOutput,
  decodeJson,
  encodeJson,
  type FailureReason,
  InvalidError,
  type JsonText,
  type Logger,
  normalise,
  parseInput,
} from '@reprise/core'
import type { ActionRegistry, RunnableAction } from './action-registry.ts'
import type { ActiveExecution } from './active-execution.ts'
import { HandlerContext } from './handler-context.ts'
import { inAttempt } from './tracing.ts'

/** Never rejects: it ends the execution one way or the other. */
export function runExecution(execution: ActiveExecution, actions: ActionRegistry, log: Logger): Promise<void> {
  return inAttempt(execution, () => runSteps(execution, actions, log))
}

async function runSteps(execution: ActiveExecution, actions: ActionRegistry, log: Logger): Promise<void> {
  let result: JsonText | null
  execution.handlerRuns = true
  try {
    const action = findAction(execution, actions)
    const given = decodeInput(execution)
    const input = action.input === null ? given : await parseInput(action, given)
    const context = new HandlerContext(execution, log)
    if (execution.mustReconcile) {
      const earlier = await reconcileFirst(action, input, context)
      if (earlier.outcome === 'unknown') return execution.leaveToPerson(earlier.message)
      if (earlier.outcome === 'done') return execution.succeed(encodeResult(earlier.result))
      if (!execution.begins(execution.now())) return
    } else if (!execution.begins()) return
    const value = await action.run(input, context)
    if (action.output !== null) await checkResult(action, value)
    result = encodeResult(value)
  } catch (thrown) {
    if (isStepFailed(thrown)) return execution.refuse(thrown.reason, thrown.message)
    // Rules with costly patterns take a while to judge by; many failures at once must not hold the process.
    const { turns } = execution
    if (turns.isSpent) await turns.wait()
    execution.fail(thrown)
    turns.stepDone()
    return
  }
  execution.succeed(result)
}

function findAction(execution: ActiveExecution, actions: ActionRegistry): RunnableAction {
  const name = execution.claimed.snapshot.action
  const action = actions.get(name)
  if (action === undefined) throw new StepFailed('action_not_found', `This worker has no action '${name}'.`)
  return action
}

function decodeInput({ claimed }: ActiveExecution): unknown {
  try {
    return decodeJson(claimed.snapshot.payload)
  } catch {
    throw new StepFailed('validation', 'The stored payload is not valid JSON.')
  }
}

/** What became of the attempt before. */
type Earlier =
  | { readonly outcome: 'done'; readonly result: unknown }
  | { readonly outcome: 'not_done' }
  | { readonly outcome: 'unknown'; readonly message: string }

const NOT_DONE: Earlier = { outcome: 'not_done' }

/** Whatever a hook throws or says that nobody understands leaves it unknown: better asked than done twice. */
async function reconcileFirst(action: RunnableAction, input: unknown, context: HandlerContext): Promise<Earlier> {
  const lost = `attempt ${context.attempt - 1} of action '${action.name}'`
  if (action.reconcile === null) {
    return { outcome: 'unknown', message: `Nobody knows what became of ${lost}: it has no reconcile hook to ask.` }
  }
  let answer: unknown
  try {
    answer = await action.reconcile(input, context)
  } catch (thrown) {
    return {
      outcome: 'unknown',
      message: `The reconcile hook failed, which should say what became of ${lost}: ${normalise(thrown).message}`,
    }
  }
  if (answer === 'not_done') return NOT_DONE
  if (answer === 'done') return { outcome: 'done', result: null }
  if (isDone(answer)) return { outcome: 'done', result: answer.result }
  return { outcome: 'unknown', message: `The reconcile hook can't tell what became of ${lost}.` }
}

function isDone(answer: unknown): answer is { readonly outcome: 'done'; readonly result: unknown } {
  return typeof answer === 'object' && answer !== null && 'outcome' in answer && answer.outcome === 'done'
}

/** A result that is not what was declared is a mistake of the handler: another attempt would make it again. */
async function checkResult(action: RunnableAction, value: unknown): Promise<void> {
  try {
    await checkOutput(action, value)
  } catch (error) {
    throw new StepFailed('validation', error instanceof Error ? error.message : 'The result is not valid.')
  }
}

/** Nothing returned is nothing stored. */
function encodeResult(value: unknown): JsonText | null {
  if (value === undefined || value === null) return null
  try {
    return encodeJson(value, 'result')
  } catch (error) {
    const detail = error instanceof Error ? error.message : "The result can't be written as JSON."
    throw new StepFailed('validation', detail)
  }
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
