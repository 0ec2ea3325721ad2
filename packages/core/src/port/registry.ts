// What workers tell the store about themselves: once when they register, and at every heartbeat; and what others found out
// about them by asking. What the store makes of it is health.ts.

import type { ActionName, PoolName, WorkerId } from '../model/ids.ts'

export interface WorkerRegistration {
  readonly worker: WorkerId
  readonly pools: readonly PoolName[]
  readonly actions: readonly ActionName[] | null
  readonly host: string
  readonly version: string
  readonly runtimes: readonly string[]
  /** Where it can be asked whether it is well: an http or https address; null if it offers none. */
  readonly endpoint: string | null
  /** How many executions it runs at once; missing if it does not say. */
  readonly concurrency?: number
}

export interface BeatReport {
  readonly worker: WorkerId
  readonly epoch: number
  readonly inFlight: number
  /** What it has claimed and not begun. The store adds what lies in its inbox. */
  readonly queueDepth: number
  readonly loopLagMs: number
  readonly memoryBytes: number
  /** Set when it takes no new work because it is about to stop. */
  readonly draining: boolean
  /**
   * How long after its last progress the first of what it runs is past its time-out; 0 if it runs nothing. A worker that has
   * finished nothing for longer than that is stuck.
   */
  readonly maxQuietMs: number
  /** What it sees coming, in words, if its figures are about to cross a threshold, or why it claims nothing (`CLAIMS_NOTHING`); null if all is well. */
  readonly outlook: string | null
  /** The version of the policies that it judges failures by, 0 for none; missing if others judge for it. */
  readonly policyVersion?: number
}

/** Whether a worker answered at its endpoint. */
export interface ProbeReport {
  readonly worker: WorkerId
  readonly epoch: number
  readonly ok: boolean
}

export type BeatResult =
  | { readonly outcome: 'current' }
  /** A newer worker has this id. */
  | { readonly outcome: 'replaced' }
  /** The store does not know this id (any more): register again. */
  | { readonly outcome: 'unknown' }

/** A worker that said goodbye, for a day. It gets no work and counts nowhere. */
export interface DepartedWorker extends WorkerRegistration {
  readonly epoch: number
  readonly registeredAt: number
  readonly leftAt: number
}
