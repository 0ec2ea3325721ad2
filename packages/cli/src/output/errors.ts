// How an error is told: what happened, its code, and what to do, on standard error. Everything in it is made safe first: a
// message may hold what somebody else wrote.

import { type ErrorCode, isRepriseError, messageOf } from '@reprise/core'
import type { Paint } from './colours.ts'
import { EXIT, EXIT_OF_CODE, type ExitCode } from './exit-codes.ts'
import { type Sink, wrappedFor } from './output.ts'
import { plain, plainLines } from './plain-text.ts'

/** An error of the command line itself: what it says is all there is to it, and it knows its exit code and a way out. */
export class CommandError extends Error {
  readonly exitCode: ExitCode
  readonly hint: string | null

  constructor(
    message: string,
    options: { readonly exitCode?: ExitCode; readonly hint?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'CommandError'
    this.exitCode = options.exitCode ?? EXIT.error
    this.hint = options.hint ?? null
  }
}

/** What was typed can't be meant. */
export const usageError = (message: string, hint?: string, cause?: unknown): CommandError =>
  new CommandError(message, { exitCode: EXIT.usage, hint, cause })

const HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  REPRISE_UNAUTHENTICATED: 'Give a token: --token, REPRISE_TOKEN or REPRISE_TOKEN_FILE.',
  REPRISE_FORBIDDEN: 'Ask an admin for a role, or a token with the scope that this needs.',
  REPRISE_UNREACHABLE: "Is it running? 'reprise doctor' looks at what is between here and there.",
  REPRISE_STORE_MISSING: 'Correct the address: --engine, REPRISE_ENGINE, REDIS_URL, or engine in reprise.yaml.',
  REPRISE_STORE_BUSY: "'reprise doctor' looks at the server and its store.",
  REPRISE_STORE_UNREACHABLE: "'reprise doctor' looks at the store.",
  REPRISE_BUDGET_EXHAUSTED: "'reprise redrive <task>' gives it a fresh budget.",
  REPRISE_RATE_LIMITED: 'Wait a little, then try again.',
  REPRISE_TASK_FAILED: "'reprise explain <task>' says more, and what can be done.",
}

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode
  return isRepriseError(error) ? (EXIT_OF_CODE[error.code] ?? EXIT.error) : EXIT.error
}

/** With a line end after each line; broken at words where the terminal ends. */
export function errorText(error: unknown, paint: Paint, sink: Sink): string {
  const head = 'error:'
  const message = wrappedFor(sink, `${head} ${plainLines(messageOf(error))}`).slice(head.length)
  const lines = [`${paint('red', head)}${message}`]
  if (isRepriseError(error)) lines.push(`  code: ${plain(error.code)}`)
  const hint = hintOf(error)
  if (hint !== null) lines.push(`  hint: ${wrappedFor(sink, plain(hint), '  hint: '.length)}`)
  return `${lines.join('\n')}\n`
}

function hintOf(error: unknown): string | null {
  if (error instanceof CommandError) return error.hint
  return isRepriseError(error) ? (HINTS[error.code] ?? null) : null
}
