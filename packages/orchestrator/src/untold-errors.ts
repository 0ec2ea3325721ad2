// Where errors go that nobody asked to be told of: to the process's warnings, each problem once. A service that outlives its
// store must not do so in silence.

import type { Logger } from '@reprise/core'

/** So many problems are told apart; what comes after is like one of them, as a rule. */
const TOLD_MAX = 100

/** The hook that was given; without one, and without a log, one that warns. Undefined if the log is enough. */
export function errorHook(
  name: string,
  { log, onError }: { readonly log?: Logger; readonly onError?: (error: unknown) => void },
): ((error: unknown) => void) | undefined {
  if (onError !== undefined || log !== undefined) return onError
  const told = new Set<string>()
  return (error) => {
    const message = error instanceof Error ? error.message : String(error)
    if (told.has(message) || told.size >= TOLD_MAX) return
    told.add(message)
    process.emitWarning(
      `The ${name} met an error and goes on: ${message} This is told once; give it 'log' or 'onError' to hear of each.`,
      'RepriseWarning',
    )
  }
}
