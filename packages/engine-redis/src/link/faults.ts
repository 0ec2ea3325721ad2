// What a failed command means, and what to do about it: the one place that reads the words of the server. A failure is
// either final for its caller, or a reason to try again later, elsewhere or on another connection.

import { StoreBusyError, StoreFailedError, StoreFullError } from '@reprise/core'
import { ErrorReply } from './redis.ts'

export type Fault =
  /** The connection broke or fell silent: the command may have taken effect. */
  | 'lost'
  /** The server answers nothing at all for now: ask for it on a new connection until it does. */
  | 'unready'
  /** The server does not know the function (any more). */
  | 'unloaded'
  /** The server refuses this for now. */
  | 'later'
  /** The server is no longer the one to ask. */
  | 'elsewhere'
  | 'full'
  | 'denied'
  /** A script of ours said no. */
  | 'refused'
  | 'failed'

const FAULTS: ReadonlyMap<string, Fault> = new Map<string, Fault>([
  ['LOADING', 'unready'],
  ['BUSY', 'unready'],
  ['MASTERDOWN', 'unready'],
  ['MISCONF', 'later'],
  ['NOREPLICAS', 'later'],
  ['CLUSTERDOWN', 'later'],
  ['TRYAGAIN', 'later'],
  // Part of the slot is on its way to another server. A script needs all of it: it waits until it has arrived.
  ['ASK', 'later'],
  ['READONLY', 'elsewhere'],
  ['MOVED', 'elsewhere'],
  ['OOM', 'full'],
  ['NOAUTH', 'denied'],
  ['WRONGPASS', 'denied'],
  ['NOPERM', 'denied'],
])

const REFUSAL = 'REPRISE'
const FUNCTION_MISSING = 'ERR Function not found'
// Settings that no waiting mends: a password for a server without one, a database it does not have.
const MISTAKEN = /^ERR (?:AUTH |DB index |invalid DB index)/
// Redis adds this to an error that a script raised, rather than returned.
const RAISED_AT = / script: \S+, on @user_\w+:\d+\.?$/

/** What a script of ours says on purpose: an error reply that starts with REPRISE. The message is the rest of it. */
export class ScriptRefusal extends Error {
  override readonly name = 'ScriptRefusal'
}

export function faultOf(error: unknown): Fault {
  if (error instanceof ErrorReply) {
    if (error.message.startsWith(REFUSAL)) return 'refused'
    if (error.message.startsWith(FUNCTION_MISSING)) return 'unloaded'
    if (MISTAKEN.test(error.message)) return 'denied'
    return FAULTS.get(codeOf(error)) ?? 'failed'
  }
  // An argument that is no text: the client refuses to write it, and always will.
  return error instanceof TypeError ? 'failed' : 'lost'
}

/** The error for the caller, for a fault that repeating does not mend. */
export function finalError(fault: 'full' | 'denied' | 'refused' | 'failed', error: unknown, label: string): Error {
  switch (fault) {
    case 'full':
      return new StoreFullError({ cause: error })
    case 'denied':
      return new StoreFailedError(
        `Redis at ${label} does not allow this: ${reasonOf(error)} Check the user, the password, the database and the permissions.`,
        { cause: error },
      )
    case 'refused':
      return new ScriptRefusal(textOf(error).slice(REFUSAL.length).replace(RAISED_AT, '').trim(), { cause: error })
    case 'failed':
      return new StoreFailedError(`Redis at ${label} failed: ${reasonOf(error)}`, { cause: error })
  }
}

/** The error for the caller, when repeating has lasted long enough. */
export function outOfPatience(label: string, forMs: number, reason: string, mayHaveHappened: boolean): StoreBusyError {
  const meaning = mayHaveHappened
    ? 'The call may have taken effect or not; repeating it does no harm.'
    : 'Nothing was changed; try again.'
  return new StoreBusyError(`Redis at ${label} could not be used for ${Math.round(forMs)} ms: ${reason} ${meaning}`)
}

/** What happened, as a sentence. */
export function reasonOf(error: unknown): string {
  const text = textOf(error).trim()
  return /[.!?]$/.test(text) ? text : `${text === '' ? 'the connection failed' : text}.`
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function codeOf(error: ErrorReply): string {
  const { message } = error
  const end = message.search(/[\s:]/)
  return end === -1 ? message : message.slice(0, end)
}
