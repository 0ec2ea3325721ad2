// How the suite gets hold of the engine it is to try: a named factory of fresh, empty stores, each on a clock that the
// suite moves. What an engine needs beyond that (a file, an address) is the factory's own business.

import type { Clock, Engine, HealthThresholds } from '@reprise/core'

export interface EngineOptions {
  readonly clock: Clock
  /** Tasks that may be queued and waiting together. */
  readonly maxBacklog?: number
  readonly healthThresholds?: HealthThresholds
}

export const DEFAULT_BACKLOG_MAX = 10_000_000

export interface EngineFactory {
  readonly name: string
  /** A fresh, empty store. The caller closes it. */
  open(options: EngineOptions): Promise<Engine>
  /**
   * Where the store keeps a task, for a store that keeps them in several places. Tasks of different places have no order among
   * each other: what the suite says about order, it tries with tasks of one place.
   */
  placeOf?(id: string): number
}
