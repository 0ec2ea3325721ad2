// Operations for a process that has the store itself: the same functions that a server runs, for a caller who may do everything.

import { type Clock, type Engine, openFlags, VERSION } from '@reprise/core'
import { openPolicies } from '@reprise/policies'
import { localCaller } from './access/caller.ts'
import { createContext } from './context.ts'
import { perform } from './run.ts'
import { ALL_OPERATIONS, type OperationName } from './table.ts'

export interface LocalOptions {
  readonly engine: Engine
  readonly clock: Clock
  /** Who operates, for the journal. */
  readonly actor: string
  readonly maxRetries: number
}

export type Perform = (name: OperationName, input: object, signal: AbortSignal) => Promise<unknown>

export async function openLocal({ engine, clock, actor, maxRetries }: LocalOptions): Promise<Perform> {
  const [policies, flags] = await Promise.all([openPolicies({ engine, clock }), openFlags({ engine, clock })])
  const context = createContext({ engine, clock, policies, flags, maxRetries, version: VERSION })
  const caller = localCaller(actor)
  return (name, input, signal) => perform(context, caller, [name, ALL_OPERATIONS[name]], input, signal)
}
