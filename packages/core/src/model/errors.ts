// Every error Reprise raises on purpose: a stable code, an HTTP status and a title in one registry. docs/errors.md
// has a section for each code, and a test keeps the two equal. Messages say what happened, what it means, what to do.

import type { Failure } from '../failure/failure.ts'
import type { TaskDifference } from './task.ts'

interface ErrorEntry {
  readonly status: number
  readonly title: string
}

export const ERRORS = {
  REPRISE_INVALID: { status: 400, title: 'The input is not valid' },
  REPRISE_TOO_LARGE: { status: 413, title: 'The input is too large' },
  REPRISE_NOT_FOUND: { status: 404, title: 'There is no such thing' },
  REPRISE_PAYLOAD_EXPIRED: { status: 410, title: 'The payload is not handed out any more' },
  REPRISE_CONFLICT: { status: 409, title: 'It conflicts with what is there' },
  REPRISE_DUPLICATE_EXECUTION: { status: 409, title: 'This attempt is already reserved' },
  REPRISE_BUDGET_EXHAUSTED: { status: 409, title: 'The retry budget is used up' },
  REPRISE_SUPERSEDED: { status: 409, title: 'The lease is no longer held' },
  REPRISE_WORKER_FENCED: { status: 409, title: 'Another worker took this worker id' },
  REPRISE_NO_AVAILABLE_SLOT: { status: 503, title: 'All slots are taken' },
  REPRISE_TENANT_BACKLOG_FULL: { status: 409, title: 'The tenant has too many tasks that have not ended' },
  REPRISE_TENANT_BYTES_FULL: { status: 507, title: 'The tenant has no room for more payloads' },
  REPRISE_BACKLOG_FULL: { status: 503, title: 'The backlog is full' },
  REPRISE_STORE_BUSY: { status: 503, title: 'The store is busy' },
  REPRISE_STORE_FULL: { status: 503, title: 'The store has no room left' },
  REPRISE_STORE_FAILED: { status: 500, title: 'The store failed' },
  REPRISE_STORE_DAMAGED: { status: 500, title: 'The store may be damaged' },
  REPRISE_STORE_CLOSED: { status: 503, title: 'The engine is closed' },
  REPRISE_STORE_MISSING: { status: 404, title: 'There is no store at this address' },
  REPRISE_SCHEMA_TOO_NEW: { status: 500, title: 'The store was written by a newer version' },
  REPRISE_UNKNOWN_ENGINE: { status: 400, title: 'The engine address is not understood' },
  REPRISE_TASK_FAILED: { status: 409, title: 'The task did not succeed' },
  REPRISE_CHUNK_FAILED: { status: 409, title: 'A chunk of a job failed' },
  REPRISE_JOB_FAILED: { status: 409, title: 'The job did not succeed' },
  REPRISE_UNAUTHENTICATED: { status: 401, title: 'Nobody known is asking' },
  REPRISE_FORBIDDEN: { status: 403, title: 'This is not allowed' },
  REPRISE_OUTRANKED: { status: 403, title: 'The platform set this' },
  REPRISE_METHOD_NOT_ALLOWED: { status: 405, title: 'This can not be done here that way' },
  REPRISE_UNSUPPORTED_MEDIA: { status: 415, title: 'The body is not of a kind that is taken here' },
  REPRISE_RATE_LIMITED: { status: 429, title: 'Too many requests' },
  REPRISE_NOT_RETRYABLE: { status: 409, title: 'The task can not be retried now' },
  REPRISE_FEATURE_OFF: { status: 403, title: 'The feature is switched off' },
  REPRISE_STORE_UNREACHABLE: { status: 502, title: 'The store did not answer' },
  REPRISE_QUEUE_FAILED: { status: 502, title: 'The outside queue did not do it' },
  REPRISE_INTERNAL: { status: 500, title: 'Something went wrong inside' },
  REPRISE_UNREACHABLE: { status: 503, title: 'The server can not be reached' },
  REPRISE_TIMED_OUT: { status: 504, title: 'Waiting took too long' },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof ERRORS

// `instanceof` fails between two copies of this package in one process; a registered symbol does not.
const REPRISE_ERROR = Symbol.for('reprise.error')

export class RepriseError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly [REPRISE_ERROR] = true

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.status = ERRORS[code].status
    this.name = new.target.name
  }
}

/** True for any Reprise error, or for the one with this code, whichever copy of the package made it. */
export function isRepriseError(value: unknown, code?: ErrorCode): value is RepriseError {
  if (typeof value !== 'object' || value === null) return false
  try {
    return REPRISE_ERROR in value && (code === undefined || (value as RepriseError).code === code)
  } catch {
    // A proxy that throws when it is looked at: a handler may throw one.
    return false
  }
}

/** The class of a code whose errors are told in the words of their thrower. */
const worded = (code: ErrorCode) =>
  class extends RepriseError {
    constructor(message: string, options?: ErrorOptions) {
      super(code, message, options)
    }
  }

/** What went wrong, in words, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export class InvalidError extends worded('REPRISE_INVALID') {}

export class TooLargeError extends RepriseError {
  constructor(what: string, sizeBytes: number, maxSizeBytes: number) {
    super(
      'REPRISE_TOO_LARGE',
      `The ${what} takes ${sizeBytes} bytes; at most ${maxSizeBytes} are allowed. Store it elsewhere and pass a reference.`,
    )
  }
}

export class NotFoundError extends RepriseError {
  constructor(what: string, id: string) {
    super('REPRISE_NOT_FOUND', `There is no ${what} '${id}'.`)
  }
}

/** The attempt still runs, and was dispatched so long ago that its payload is not handed out any more (A11). */
export class PayloadExpiredError extends worded('REPRISE_PAYLOAD_EXPIRED') {}

export class ConflictError extends worded('REPRISE_CONFLICT') {}

/** A submission, or a message, whose id or dedupe key belongs to a task that was asked for otherwise. */
export class TaskConflictError extends RepriseError {
  /** The task that has the id or the key. */
  readonly taskId: string
  /** In what the two differ, never how. */
  readonly differs: readonly TaskDifference[]

  constructor(taskId: string, differs: readonly TaskDifference[]) {
    super(
      'REPRISE_CONFLICT',
      `Task '${taskId}' has this id or dedupe key already, and was submitted with another ${differs.join(' and another ')}. Nothing was submitted. Send the same again to repeat a submission; use another id or key for another task.`,
    )
    this.taskId = taskId
    this.differs = differs
  }
}

/** Two messages asked for the same attempt: the loser gets this and does nothing (A2). */
export class DuplicateExecutionError extends RepriseError {
  constructor(taskId: string, attempt: number) {
    super(
      'REPRISE_DUPLICATE_EXECUTION',
      `Attempt ${attempt} of task '${taskId}' is already reserved. Drop this message: somebody else has it.`,
    )
  }
}

/** An attempt above the ceiling, from any caller (A6). */
export class BudgetExhaustedError extends RepriseError {
  constructor(taskId: string, attempt: number, maxAttempt: number) {
    super(
      'REPRISE_BUDGET_EXHAUSTED',
      `Attempt ${attempt} of task '${taskId}' is above its ceiling of ${maxAttempt}. Redrive the task to open a new generation.`,
    )
  }
}

export class SupersededError extends RepriseError {
  constructor(taskId: string, attempt: number, because: string) {
    super(
      'REPRISE_SUPERSEDED',
      `Attempt ${attempt} of task '${taskId}' is no longer yours (${because}). Stop working on it; nothing was changed.`,
    )
  }
}

export class WorkerFencedError extends RepriseError {
  constructor(workerId: string, epoch: number) {
    super(
      'REPRISE_WORKER_FENCED',
      `Worker '${workerId}' of epoch ${epoch} was replaced by a newer one with the same id. Give every worker its own id, or none.`,
    )
  }
}

/** The funnel could not take a slot: the pool or lane is at its limit (A7). */
export class NoAvailableSlotError extends RepriseError {
  constructor(scope: string, concurrency: number) {
    super(
      'REPRISE_NO_AVAILABLE_SLOT',
      `All ${concurrency} slots of ${scope} are taken. Nothing was reserved; try again when one is free.`,
    )
  }
}

/** The same beyond our own slots: the platform of a launcher has no room for another worker, or wants fewer calls. */
export class PlatformFullError extends RepriseError {
  /** How long the platform wants to be left alone; null if it does not say. */
  readonly retryAfterMs: number | null
  /** One of several targets of the launcher is full: its task is put off, so that tasks for other targets come through. */
  readonly isOneTarget: boolean

  constructor(
    message: string,
    {
      retryAfterMs = null,
      isOneTarget = false,
      ...options
    }: ErrorOptions & { retryAfterMs?: number | null; isOneTarget?: boolean } = {},
  ) {
    super('REPRISE_NO_AVAILABLE_SLOT', message, options)
    this.retryAfterMs = retryAfterMs
    this.isOneTarget = isOneTarget
  }
}

export class BacklogFullError extends RepriseError {
  constructor(backlog: number, added: number, maxBacklog: number) {
    super(
      'REPRISE_BACKLOG_FULL',
      `The backlog holds ${backlog} tasks and can't take ${added} more (limit ${maxBacklog}). Nothing was accepted; submit again later or raise maxBacklog.`,
    )
  }
}

/** A tenant's caller wanted to lift or change what the platform put on their lanes. */
export class OutrankedError extends RepriseError {
  constructor(what: string, scope: string) {
    super(
      'REPRISE_OUTRANKED',
      `The platform put the ${what} on ${scope}: only its operators can lift or change it. Nothing was changed; ask them, or name a narrower scope.`,
    )
  }
}

export class TenantBacklogError extends RepriseError {
  constructor(tenant: string, backlog: number, maxBacklog: number) {
    super(
      'REPRISE_TENANT_BACKLOG_FULL',
      `Tenant '${tenant}' has ${backlog} tasks that have not ended; its limit is ${maxBacklog}. The task was not accepted. Submit it again when some have ended, cancel some, or ask for a higher limit.`,
    )
  }
}

export class TenantBytesError extends RepriseError {
  constructor(tenant: string, bytes: number, added: number, maxBytes: number) {
    super(
      'REPRISE_TENANT_BYTES_FULL',
      `What tenant '${tenant}' has stored takes ${bytes} bytes, and there is no room for ${added} more; its limit is ${maxBytes}. Nothing was stored. Send smaller payloads, wait until retention removes tasks that have ended, or ask for a higher limit.`,
    )
  }
}

export class StoreBusyError extends worded('REPRISE_STORE_BUSY') {}

export class StoreFullError extends RepriseError {
  constructor(options?: ErrorOptions) {
    super(
      'REPRISE_STORE_FULL',
      'The store has no room left. Nothing was changed; it carries on by itself once there is room.',
      options,
    )
  }
}

export class StoreFailedError extends worded('REPRISE_STORE_FAILED') {}

/** Nobody knows what the disk holds: nothing more is acknowledged. */
export class StoreDamagedError extends RepriseError {
  constructor(what: string, options?: ErrorOptions) {
    super(
      'REPRISE_STORE_DAMAGED',
      `${what} Nothing more is acknowledged. Stop this process, check the disk and the file, start again.`,
      options,
    )
  }
}

export class StoreClosedError extends RepriseError {
  constructor() {
    super('REPRISE_STORE_CLOSED', 'The engine is closed. Open a new one to go on.')
  }
}

/** Only roles and SDKs create stores. A person who wants to look at one that is not there has mistyped its address. */
export class StoreMissingError extends RepriseError {
  /** `near` is a store that is there and may have been meant. */
  constructor(where: string, near: string | null) {
    const meant = near === null ? '' : ` Did you mean '${near}'?`
    super(
      'REPRISE_STORE_MISSING',
      `There is no store at ${where}.${meant} Nothing was created. A store is created by the process that works on it first: 'reprise up' or a worker.`,
    )
  }
}

export class SchemaTooNewError extends RepriseError {
  constructor(found: number, known: number) {
    super(
      'REPRISE_SCHEMA_TOO_NEW',
      `The store has schema ${found}; this version of Reprise knows ${known}. Upgrade Reprise, or open the store with the version that wrote it.`,
    )
  }
}

export class UnknownEngineError extends worded('REPRISE_UNKNOWN_ENGINE') {}

/** A waiter asked for a result, and the task ended some other way. */
export class TaskFailedError extends RepriseError {
  readonly taskId: string
  readonly taskStatus: string
  /** The last failure of a dead task; null if it did not fail. */
  readonly failure: Failure | null

  constructor(taskId: string, taskStatus: string, detail: string, failure: Failure | null = null) {
    super('REPRISE_TASK_FAILED', `Task '${taskId}' ended as ${taskStatus}: ${detail}`)
    this.taskId = taskId
    this.taskStatus = taskStatus
    this.failure = failure
  }
}

/** A chunk of a job ended with an exit code other than 0 (E2). */
export class ChunkFailedError extends RepriseError {
  readonly chunkId: string
  readonly exitCode: number
  readonly stderr: string

  constructor(chunkId: string, exitCode: number, stderr: string) {
    super('REPRISE_CHUNK_FAILED', `Chunk ${chunkId} failed with exit code ${exitCode}: ${stderr}`)
    this.chunkId = chunkId
    this.exitCode = exitCode
    this.stderr = stderr
  }
}

/** Somebody waited for a durable job, and it did not come to a good end. */
export class JobFailedError extends RepriseError {
  readonly jobId: string
  readonly jobStatus: string

  constructor(jobId: string, jobStatus: string, because: string | null) {
    super('REPRISE_JOB_FAILED', `The job '${jobId}' is ${jobStatus}: ${because ?? 'no reason is known.'}`)
    this.jobId = jobId
    this.jobStatus = jobStatus
  }
}

/** For callers of the HTTP API: nobody known, not allowed, too often, and whatever else has no class of its own. */
export class RequestError extends RepriseError {
  /** How long to wait before the next try; null if nobody said. */
  readonly retryAfterMs: number | null

  constructor(code: ErrorCode, message: string, { retryAfterMs = null, ...options }: RequestErrorOptions = {}) {
    super(code, message, options)
    this.retryAfterMs = retryAfterMs
  }
}

interface RequestErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | null
}

export class TimedOutError extends worded('REPRISE_TIMED_OUT') {}
