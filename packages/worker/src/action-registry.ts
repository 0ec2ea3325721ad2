// The actions one worker can run, by name. Checked once when the worker is created: no name twice, a handler for each.

import {
  type Action,
  type ActionName,
  DEFAULT_TENANT,
  InvalidError,
  type Logger,
  type PolicySource,
  policyForFailure,
  type RunContext,
  type StandardSchema,
} from '@reprise/core'

/** Any action, whatever the types of its input and result. */
export interface AnyAction extends Pick<Action, 'name' | 'pool' | 'settings'> {
  readonly input: StandardSchema<unknown, unknown> | null
  readonly output: StandardSchema<unknown, unknown> | null
  readonly run: ((input: never, context: RunContext) => unknown) | null
  readonly reconcile: ((input: never, context: RunContext) => unknown) | null
}

export interface RunnableAction extends Omit<AnyAction, 'run' | 'reconcile'> {
  readonly run: (input: unknown, context: RunContext) => unknown
  /** Asked before a task runs again whose attempt was lost; null if the action has no such hook. */
  readonly reconcile: ((input: unknown, context: RunContext) => unknown) | null
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
    const { name, run, reconcile } = action
    if (registry.has(name)) throw new InvalidError(`Two actions are named '${name}'. Give each a name of its own.`)
    if (run === null) {
      throw new InvalidError(`Action '${name}' has no run function, so a worker can't run it. Add run to defineAction.`)
    }
    // The input it is called with was parsed by its own schema, so it is what the handler was declared for.
    registry.set(name, { ...action, run, reconcile: reconcile ?? null } as RunnableAction)
  }
  return registry
}

/** A policy may ask for a hook that an action does not have. */
export function warnOfMissingHooks(registry: ActionRegistry, policies: PolicySource, log: Logger): void {
  for (const { name, settings, reconcile } of registry.values()) {
    if (reconcile !== null) continue
    const subject = { action: name, tenant: DEFAULT_TENANT, settings }
    const policy = policyForFailure(policies.current(), subject, ['worker_lost'])?.policy
    if ((policy?.onLost ?? settings.onLost) !== 'reconcile') continue
    log.warn('An action is to be asked about lost attempts and has no reconcile hook: they are left to a person.', {
      action: name,
    })
  }
}
