// A platform that runs containers for us (ECS, Cloud Run, Kubernetes), as the one launcher above it sees it: starts a worker under a
// mark, says what became of workers, finds those with a mark, stops them. A platform knows no store and no clock, and keeps
// nothing in memory.

import type { LaunchOrder, LossCause } from '@reprise/core'

/** What a worker carries so that it is found by any process. Hashes: a key may hold any character, a token is a secret. */
export interface Mark {
  /** Of the launch key: the same for every try to launch one attempt. */
  readonly launch: string
  /** Of the token: tells a launch from an earlier one under the same key, which was released. */
  readonly token: string
}

export interface MarkedOrder {
  readonly order: LaunchOrder
  readonly mark: Mark
  /** The whole environment of the worker. */
  readonly env: Readonly<Record<string, string>>
}

export type WorkerState =
  /** It runs, or is about to. */
  | { readonly is: 'running' }
  /** It will never run, though the platform goes on trying. */
  | { readonly is: 'stuck'; readonly cause: LossCause }
  | { readonly is: 'ended'; readonly cause: LossCause }
  /** The platform does not know it: no more, or not yet. */
  | { readonly is: 'missing' }
  | { readonly is: 'unknown' }

export interface Found {
  readonly id: string
  /** Null if it can't be told. */
  readonly tokenMark: string | null
  readonly state: WorkerState
}

export interface Platform {
  /** Whether the platform itself recognises an order that comes twice. */
  readonly recognisesOrders: boolean
  /**
   * Starts a worker and says what the platform calls it. Throws UnclearStartError if it may have been started all the same, and
   * else what a launcher throws: nothing was started then.
   */
  start(order: MarkedOrder, signal: AbortSignal): Promise<string>
  /** In their order. */
  describe(ids: readonly string[], signal: AbortSignal): Promise<readonly WorkerState[]>
  /**
   * The workers of this launch that the platform still knows; null if it can't tell of all. `latest` is enough where only what was
   * started a moment ago matters, and many would have to be searched.
   */
  find(launchMark: string, signal: AbortSignal, scope: 'latest' | 'all'): Promise<readonly Found[] | null>
  /** Asks it to end, and forces it after its grace time. Comes back at once. A worker that is gone is none to be stopped. */
  stop(id: string, graceMs: number, signal: AbortSignal): Promise<void>
  /** Its end is settled: nothing more is asked about it. */
  remove?(id: string, signal: AbortSignal): Promise<void>
  close(): void
}

/** The platform did not answer clearly: a worker may have been started. */
export class UnclearStartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnclearStartError'
  }
}
