// Which execution runs at this moment, also deep inside of what its handler awaits: for a client that is called by a
// handler, and for the thread that finds the event loop blocked. The thread asks through the debugger's way in, which
// works while a handler runs on and on. Nothing is paid for it meanwhile, but for the context that follows each handler.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import type { ActiveExecution } from './active-execution.ts'

const running = new AsyncLocalStorage<ActiveExecution>()

/**
 * Where handlers start from. `running.run` makes two contexts for each handler, one of them to go back to what was before;
 * that is a tenth of what a short task costs. Starting from a place that is known needs one. (Contexts are frames of their
 * own unless Node is told otherwise; with --no-async-context-frame a handler sees what the one before it entered.)
 */
export class ExecutionScopes {
  readonly #outside = new AsyncResource('reprise.handlers', { requireManualDestroy: true })

  /** Calls this with the context of the execution, which ends with the call and goes on in what the call awaits. */
  run<T>(execution: ActiveExecution, call: () => T): T {
    return this.#outside.runInAsyncScope(enter<T>, undefined, execution, call)
  }
}

function enter<T>(execution: ActiveExecution, call: () => T): T {
  running.enterWith(execution)
  return call()
}

/** Null outside of handlers. */
export const executionNow = (): ActiveExecution | null => running.getStore() ?? null

/** What the thread evaluates here, without any of our names in its reach. */
export const QUESTION = 'reprise.running'
const PLACE_LENGTH_MAX = 100

/** The execution whose handler blocks the event loop, and where in the code it does; both null if it can't be told. */
export interface Culprit {
  readonly task: string | null
  readonly attempt: number | null
  readonly action: string | null
  /** How long it may still run, in milliseconds; null without an execution. */
  readonly timeoutInMs: number | null
  readonly place: string | null
}

function answer(): string {
  const execution = executionNow()
  const claimed = execution?.claimed ?? null
  return JSON.stringify({
    task: claimed?.taskId ?? null,
    attempt: claimed?.attempt ?? null,
    action: claimed?.snapshot.action ?? null,
    timeoutInMs: execution?.timeoutInMs ?? null,
    place: placeIn(new Error().stack ?? ''),
  } satisfies Culprit)
}

/** The innermost call that is neither ours nor Node's. */
function placeIn(stack: string): string | null {
  const [, , ...calls] = stack.split('\n').slice(1)
  const line = calls.map((call) => call.trim().replace(/^at /, '')).find((call) => !/\(?(node:|<anonymous>)/.test(call))
  return line === undefined ? null : line.slice(-PLACE_LENGTH_MAX)
}

Object.defineProperty(globalThis, Symbol.for(QUESTION), { value: answer, configurable: true, enumerable: false })
