// What the command line answers to its caller: one small number. docs/cli.md lists them, and scripts rely on them.

import type { ErrorCode } from '@reprise/core'

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  conflict: 5,
  taskFailed: 6,
  timedOut: 7,
  /** 128 and the number of SIGINT, as shells have it. */
  interrupted: 130,
} as const

/** What ends a command in order, and the exit code it has then, as shells have it: 128 and the number of the signal. */
export const SIGNAL_EXITS = { SIGINT: EXIT.interrupted, SIGTERM: 143, SIGHUP: 129 } as const
export type SignalName = keyof typeof SIGNAL_EXITS

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Every code of the registry has its number: a new one does not compile until it has. */
export const EXIT_OF_CODE: Readonly<Record<ErrorCode, ExitCode>> = {
  REPRISE_INVALID: EXIT.usage,
  REPRISE_TOO_LARGE: EXIT.usage,
  REPRISE_UNKNOWN_ENGINE: EXIT.usage,
  REPRISE_METHOD_NOT_ALLOWED: EXIT.error,
  REPRISE_UNSUPPORTED_MEDIA: EXIT.error,
  REPRISE_NOT_FOUND: EXIT.notFound,
  REPRISE_PAYLOAD_EXPIRED: EXIT.notFound,
  REPRISE_STORE_MISSING: EXIT.notFound,
  REPRISE_UNAUTHENTICATED: EXIT.notAllowed,
  REPRISE_FORBIDDEN: EXIT.notAllowed,
  REPRISE_OUTRANKED: EXIT.notAllowed,
  REPRISE_FEATURE_OFF: EXIT.notAllowed,
  REPRISE_CONFLICT: EXIT.conflict,
  REPRISE_DUPLICATE_EXECUTION: EXIT.conflict,
  REPRISE_BUDGET_EXHAUSTED: EXIT.conflict,
  REPRISE_SUPERSEDED: EXIT.conflict,
  REPRISE_WORKER_FENCED: EXIT.conflict,
  REPRISE_NOT_RETRYABLE: EXIT.conflict,
  REPRISE_TASK_FAILED: EXIT.taskFailed,
  REPRISE_CHUNK_FAILED: EXIT.taskFailed,
  REPRISE_JOB_FAILED: EXIT.taskFailed,
  REPRISE_TIMED_OUT: EXIT.timedOut,
  REPRISE_NO_AVAILABLE_SLOT: EXIT.error,
  REPRISE_TENANT_BACKLOG_FULL: EXIT.error,
  REPRISE_TENANT_BYTES_FULL: EXIT.error,
  REPRISE_BACKLOG_FULL: EXIT.error,
  REPRISE_RATE_LIMITED: EXIT.error,
  REPRISE_STORE_BUSY: EXIT.error,
  REPRISE_STORE_FULL: EXIT.error,
  REPRISE_STORE_FAILED: EXIT.error,
  REPRISE_STORE_DAMAGED: EXIT.error,
  REPRISE_STORE_CLOSED: EXIT.error,
  REPRISE_STORE_UNREACHABLE: EXIT.error,
  REPRISE_SCHEMA_TOO_NEW: EXIT.error,
  REPRISE_QUEUE_FAILED: EXIT.error,
  REPRISE_INTERNAL: EXIT.error,
  REPRISE_UNREACHABLE: EXIT.error,
}
