// The Launcher port: starts an ephemeral worker for one execution, and can say later what became of it. A launch is known
// by its key, the same for every try to launch one attempt, so that the next process after a crash finds what was started.
// A launcher knows no store: the orchestrator reserves before it launches, and settles what the launcher saw.

import type { ActionName, LeaseToken, RetryToken, TaskId, TenantId } from '../model/ids.ts'
import type { JsonText } from '../model/json.ts'
import type { Launch } from './leases.ts'

export interface LaunchOrder {
  /** The idempotency gate: two orders with one key start at most one worker. See launchKey(). */
  readonly key: string
  readonly taskId: TaskId
  readonly attempt: number
  /** With which the started worker may call back. */
  readonly token: LeaseToken
  readonly action: ActionName
  readonly tenant: TenantId
  readonly payload: JsonText
  readonly labels: Readonly<Record<string, string>>
  readonly retryToken: RetryToken
  readonly timeoutMs: number
  /**
   * The launch is void from here on, because the attempt may be somebody else's by then: a moment of the system-wide monotonic clock, in ms.
   * A launcher must not start anything after it, however long it was held up. On Linux it is what process.hrtime reads.
   */
  readonly voidAt: number
}

/** What a launched worker came to, as far as its launcher can tell. */
export type LaunchOutcome =
  | { readonly ok: true; readonly result: JsonText | null }
  /** Whatever describes the failure, as a handler would throw it. */
  | { readonly ok: false; readonly thrown: unknown }

export type LaunchSighting =
  /** It lives, or may still do so. */
  | { readonly status: 'running'; readonly handle: string }
  | { readonly status: 'ended'; readonly handle: string; readonly outcome: LaunchOutcome }
  /** It was started, and is gone without a report of its own. Its platform may say why. */
  | { readonly status: 'vanished'; readonly cause?: LossCause }
  /** Nothing was ever started under this key, and, the order being void, nothing will be. */
  | { readonly status: 'never' }
  /** The launcher can't tell now. */
  | { readonly status: 'unknown' }

/** Why a worker ended before it could report, as its platform tells it. Failure groups and policies go by the code. */
export interface LossCause {
  /** `WORKER_OUT_OF_MEMORY`, `EXIT_137`. */
  readonly code: string
  readonly message: string
}

export interface Launched {
  /** What the launcher, or its platform, knows the worker by. */
  readonly handle: string
}

export interface LaunchRef {
  readonly key: string
  /** Null if nobody noted it. */
  readonly handle: string | null
  /**
   * Of the attempt that asks. Without a handle it tells the launch of this attempt from one that was released: both have
   * the same key. What the other came to is not to be answered; while it runs, the answer is 'unknown'.
   */
  readonly token?: LeaseToken
}

export interface Launcher {
  readonly name: string
  /**
   * Starts a worker. Throws if none was started, and leaves nothing behind then. What it throws says, as what a handler
   * throws does, whether trying again can help: PermanentError, TransientError, RetryAfterError. DuplicateExecutionError: the key is taken;
   * a launcher whose platform knows the order again may answer the same handle instead. PlatformFullError: there is no room now.
   */
  launch(order: LaunchOrder, signal: AbortSignal): Promise<Launched>
  /** What became of these, in their order. A process that does not launch them itself asks once their orders are void. */
  look(refs: readonly LaunchRef[]): Promise<readonly LaunchSighting[]>
  /** Ends a worker that runs: asks first, and forces it after the grace time. Comes back when it is gone. */
  end(ref: LaunchRef, graceMs: number): Promise<void>
  /** Its end is settled: whatever is kept about it may go. With the handle of the sighting, so that nothing newer goes. */
  forget(ref: LaunchRef): Promise<void>
  /**
   * Calls back with the key of a launch that may have ended, soon after it did, until the returned function is called. Only
   * of launches that this launcher started or saw running. A hint that may be missing: look() says what is true.
   */
  onEnded?(listener: (key: string) => void): () => void
  close(): Promise<void>
}

/** The acceptance time tells a task from an earlier one with the same id, which was deleted. */
export const launchKey = ({ taskId, acceptedAt, attempt }: Pick<Launch, 'taskId' | 'acceptedAt' | 'attempt'>): string =>
  `${taskId}:${acceptedAt}:${attempt}`
