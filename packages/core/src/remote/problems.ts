// From problem details (RFC 9457) back to the error that an engine would have thrown: the same code, and the same class where
// the code has one. What is no problem of ours (a proxy's page, another service) becomes an error that says so.

import {
  BacklogFullError,
  BudgetExhaustedError,
  ConflictError,
  DuplicateExecutionError,
  ERRORS,
  type ErrorCode,
  InvalidError,
  NoAvailableSlotError,
  NotFoundError,
  type RepriseError,
  RequestError,
  SchemaTooNewError,
  StoreBusyError,
  StoreClosedError,
  StoreDamagedError,
  StoreFailedError,
  StoreFullError,
  SupersededError,
  TaskConflictError,
  TimedOutError,
  TooLargeError,
  UnknownEngineError,
  WorkerFencedError,
} from '../model/errors.ts'
import { TASK_DIFFERENCES } from '../model/task.ts'

/** What the server's answer says about an error, apart from its class. */
interface ProblemBody {
  readonly code?: unknown
  readonly title?: unknown
  readonly detail?: unknown
  readonly requestId?: unknown
  /** Of a submission that conflicts with a task: in what, and with which. */
  readonly differs?: unknown
  readonly taskId?: unknown
  /** A fixed text, where a route promises one. */
  readonly error?: unknown
}

/** Codes whose errors have a class of their own, with whatever their constructors ask for: the message is the server's. */
const CLASSES: Partial<Record<ErrorCode, () => RepriseError>> = {
  REPRISE_INVALID: () => new InvalidError(''),
  REPRISE_TOO_LARGE: () => new TooLargeError('', 0, 0),
  REPRISE_NOT_FOUND: () => new NotFoundError('', ''),
  REPRISE_CONFLICT: () => new ConflictError(''),
  REPRISE_DUPLICATE_EXECUTION: () => new DuplicateExecutionError('', 0),
  REPRISE_BUDGET_EXHAUSTED: () => new BudgetExhaustedError('', 0, 0),
  REPRISE_SUPERSEDED: () => new SupersededError('', 0, ''),
  REPRISE_WORKER_FENCED: () => new WorkerFencedError('', 0),
  REPRISE_NO_AVAILABLE_SLOT: () => new NoAvailableSlotError('', 0),
  REPRISE_BACKLOG_FULL: () => new BacklogFullError(0, 0, 0),
  REPRISE_STORE_BUSY: () => new StoreBusyError(''),
  REPRISE_STORE_FULL: () => new StoreFullError(),
  REPRISE_STORE_FAILED: () => new StoreFailedError(''),
  REPRISE_STORE_DAMAGED: () => new StoreDamagedError(''),
  REPRISE_STORE_CLOSED: () => new StoreClosedError(),
  REPRISE_SCHEMA_TOO_NEW: () => new SchemaTooNewError(0, 0),
  REPRISE_UNKNOWN_ENGINE: () => new UnknownEngineError(''),
  REPRISE_TIMED_OUT: () => new TimedOutError(''),
}

/** Waiting does not help against these soon enough: the caller decides when to come again, as on an engine. */
const NOT_WAITED_FOR: ReadonlySet<string> = new Set([
  'REPRISE_BACKLOG_FULL',
  'REPRISE_STORE_FULL',
  'REPRISE_NO_AVAILABLE_SLOT',
])

export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERRORS, code)

/** The error of this code, in the server's words. */
export function errorOf(code: ErrorCode, message: string, retryAfterMs: number | null = null): RepriseError {
  const make = CLASSES[code]
  if (make === undefined) return new RequestError(code, message, { retryAfterMs })
  return reworded(make(), message)
}

/** The same error with another message, also at the head of its stack. */
export function reworded(error: RepriseError, message: string): RepriseError {
  error.message = message
  Error.captureStackTrace(error, reworded)
  return error
}

/** Whether the same request may well succeed a little later. */
export const isWorthWaiting = (status: number, { code }: RepriseError): boolean =>
  status === 429 || ((status === 502 || status === 503 || status === 504) && !NOT_WAITED_FOR.has(code))

/** The error that an answer stands for. `serverName` is the server's address. */
export function problemError(
  status: number,
  body: unknown,
  retryAfterMs: number | null,
  serverName: string,
): RepriseError {
  if (typeof body === 'object' && body !== null) {
    const { code, detail, title, requestId, differs, taskId } = body as ProblemBody
    if (isErrorCode(code)) {
      const words = typeof detail === 'string' ? detail : typeof title === 'string' ? title : ERRORS[code].title
      const trail = status >= 500 && typeof requestId === 'string' ? ` (request ${requestId.slice(0, 100)})` : ''
      if (code === 'REPRISE_CONFLICT' && Array.isArray(differs)) {
        const parts = TASK_DIFFERENCES.filter((part) => differs.includes(part))
        return reworded(new TaskConflictError(String(taskId), parts), words)
      }
      return errorOf(code, `${words}${trail}`, retryAfterMs)
    }
  }
  if (status === 429) {
    return new RequestError('REPRISE_RATE_LIMITED', `${serverName} turns requests away for now: too many.`, {
      retryAfterMs,
    })
  }
  if (status >= 300 && status < 400) {
    return new RequestError(
      'REPRISE_UNREACHABLE',
      `${serverName} answered with a redirect (${status}), which is not followed. Give the address that it leads to.`,
    )
  }
  const advice =
    status >= 500
      ? 'Something between here and the server may be in trouble.'
      : 'Is this the address of a Reprise server?'
  return new RequestError(
    'REPRISE_UNREACHABLE',
    `${serverName} answered ${status}, and not in the way a Reprise server does. ${advice}`,
    { retryAfterMs },
  )
}

/** An answer that is well-formed HTTP and not what the API promises. */
export const notReprise = (serverName: string): RequestError =>
  new RequestError(
    'REPRISE_UNREACHABLE',
    `${serverName} did not answer as a Reprise server does. Is the address right, and is the server of this version?`,
  )
