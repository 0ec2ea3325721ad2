// The actions one worker can run, by name. Checked once when the worker is created: no name twice, a handler for each.

import { type Action, type ActionName, InvalidError, type RunContext, type StandardSchema } from '@reprise/core'

/** Any action, whatever the types of its input and result. */
export interface AnyAction extends Pick<Action, 'name' | 'pool' | 'settings'> {
  readonly input: StandardSchema<unknown, unknown> | null
  readonly run: ((input: never, context: RunContext) => unknown) | null
}

export interface RunnableAction {
  readonly name: ActionName
  readonly input: StandardSchema<unknown, unknown> | null
  readonly run: (input: unknown, context: RunContext) => unknown
}

export type ActionRegistry = ReadonlyMap<ActionName, RunnableAction>

export function actionRegistry(actions: readonly AnyAction[]): ActionRegistry {
  if (!Array.isArray(actions)) {
    throw new InvalidError('A worker takes a list of actions: actions: [sendInvoice, …].')
  }
  if (actions.length === 0) throw new InvalidError('A worker needs at least one action to run.')
  const registry = new Map<ActionName, RunnableAction>()
  for (const action of actions as readonly AnyAction[]) {
    if (typeof action !== 'object' || action === null || typeof action.settings !== 'object') {
      throw new InvalidError('Every action of a worker comes from defineAction().')
    }
    const { name, input, run } = action
    if (registry.has(name)) throw new InvalidError(`Two actions are named '${name}'. Give each a name of its own.`)
    if (run === null) {
      throw new InvalidError(`Action '${name}' has no run function, so a worker can't run it. Add run to defineAction.`)
    }
    // The input it is called with was parsed by its own schema, so it is what the handler was declared for.
    registry.set(name, { name, input, run: run as RunnableAction['run'] })
  }
  return registry
}
