// Operations for a process that has the store itself: the same functions that a server runs, for a caller who may do everything.

import { readFileSync } from 'node:fs'
import { type Clock, type Engine, openFlags } from '@reprise/core'
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

/** Of this package, whose manifest stands beside the sources and beside what is built. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

export type Perform = (name: OperationName, input: object, signal: AbortSignal) => Promise<unknown>

export async function openLocal({ engine, clock, actor, maxRetries }: LocalOptions): Promise<Perform> {
  const [policies, flags] = await Promise.all([openPolicies({ engine, clock }), openFlags({ engine, clock })])
  const context = createContext({ engine, clock, policies, flags, maxRetries, version })
  const caller = localCaller(actor)
  return (name, input, signal) => perform(context, caller, [name, ALL_OPERATIONS[name]], input, signal)
}
