// From how a command ended to what its attempt comes to: a result, or a failure as a handler would throw it. The rules for
// exit codes are those of sysexits.h as far as they say whether to try again.

import { checkedJson, type JsonText, type LaunchOutcome, timeoutMessage } from '@reprise/core'
import { describedError, describedFailure } from '../described-failure.ts'
import type { Exited } from './protocol.ts'

export type ExitMeaning = 'permanent' | 'transient'

/** What exit codes say, unless the options say otherwise. Others say nothing: what stands on stderr decides. */
export const EXIT_CODES: Readonly<Record<string, ExitMeaning>> = {
  /** EX_USAGE: called in a wrong way. */
  64: 'permanent',
  /** EX_DATAERR: the input is wrong. */
  65: 'permanent',
  /** EX_NOINPUT: what the input speaks of is not there. */
  66: 'permanent',
  /** EX_UNAVAILABLE: something it needs is not available. */
  69: 'transient',
  /** EX_TEMPFAIL: try again later. */
  75: 'transient',
  /** EX_NOPERM: not permitted. */
  77: 'permanent',
  /** EX_CONFIG: misconfigured. */
  78: 'permanent',
}

// Sent from outside, by a person, a shutdown or the kernel when memory is short: the command did nothing wrong.
const OUTSIDE_SIGNALS: ReadonlySet<string> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'])

export function outcomeOf(exited: Exited, exitCodes: Readonly<Record<string, ExitMeaning>>): LaunchOutcome {
  if (exited.timedOutMs !== null) return { ok: false, thrown: timeOut(exited, exited.timedOutMs) }
  if (exited.exitCode !== 0) return { ok: false, thrown: failureOf(exited, exitCodes) }
  try {
    return { ok: true, result: resultOf(exited) }
  } catch (thrown) {
    return { ok: false, thrown }
  }
}

function resultOf({ result, resultBytes, lastLine }: Exited): JsonText | null {
  if (resultBytes !== null) {
    throw describedFailure({
      code: 'REPRISE_TOO_LARGE',
      message: `The command succeeded, but its result file takes ${resultBytes} bytes. Store the result elsewhere and write a reference.`,
    })
  }
  // A result file is meant as one; the last line of the output may just be the last line of the output.
  if (result !== null) return checkedJson(result, 'result of the command')
  if (lastLine === null) return null
  try {
    return checkedJson(lastLine, 'last line of the output')
  } catch {
    return null
  }
}

function timeOut({ stderr, signal, exitCode }: Exited, timedOutMs: number): Error {
  // Told as the reconciliation tells it when it comes first, by name and message: one hang is one group of failures.
  const failure = describedFailure({
    code: 'timeout',
    message: timeoutMessage(timedOutMs),
    details: { exitCode, signal, ...(stderr === '' ? {} : { stderr }) },
  })
  return Object.assign(failure, { name: 'ObservedFailure' })
}

function failureOf(exited: Exited, exitCodes: Readonly<Record<string, ExitMeaning>>): Error {
  const { exitCode, signal, stderr } = exited
  const described = errorInResult(exited)
  if (described !== null) return described
  const says =
    exitCode !== null ? exitCodes[String(exitCode)] : OUTSIDE_SIGNALS.has(signal ?? '') ? 'transient' : undefined
  const how = exitCode !== null ? `with exit code ${exitCode}` : `by signal ${signal}`
  return describedFailure({
    code: exitCode !== null ? `EXIT_${exitCode}` : `SIGNAL_${signal}`,
    message: stderr === '' ? `The command ended ${how} and wrote nothing to stderr.` : stderr,
    says,
    details: { exitCode, signal },
  })
}

/** A command that fails may say more than an exit code can: `{ "error": { code, message, retryable, retryAfterMs } }`. */
function errorInResult({ result }: Exited): Error | null {
  if (result === null) return null
  try {
    const content: unknown = JSON.parse(checkedJson(result, 'result of the command'))
    if (typeof content !== 'object' || content === null || !('error' in content)) return null
    return describedError(content.error)
  } catch {
    return null
  }
}
