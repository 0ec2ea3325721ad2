// Tells the store that this worker lives, and how it fares. The answer may be that another worker took its id. Its
// timer is what keeps an idle worker's process alive. Leases are renewed elsewhere.

import { type BeatReport, createService, isRepriseError, type Service, type Work } from '@reprise/core'
import type { Surroundings } from '@reprise/orchestrator'
import { LAG_SAMPLES, type LoopLag, sleepAndNote } from './loop-lag.ts'

export interface HeartbeatOptions extends Surroundings {
  readonly engine: Pick<Work, 'beat'>
  readonly intervalMs: number
  readonly lag: LoopLag
  readonly report: () => BeatReport
  /** Another worker has this id now; `epoch` is the one that was asked with. */
  readonly onReplaced: (epoch: number) => void
  /** The store has forgotten this worker: it must register again. */
  readonly onUnknown: () => Promise<void>
  /** The store has heard it, and the worker stands as it thinks it does. */
  readonly onCurrent: (epoch: number) => Promise<void>
}

export function createHeartbeat(options: HeartbeatOptions): Service {
  return createService('heartbeat', (signal) => beatLoop(options, signal), options.onError)
}

async function beatLoop(options: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  const { clock, intervalMs, lag } = options
  while (!signal.aborted) {
    await beatOnce(options)
    for (let sample = 0; sample < LAG_SAMPLES && !signal.aborted; sample++) {
      await sleepAndNote(clock, lag, intervalMs / LAG_SAMPLES, signal)
    }
  }
}

export async function beatOnce(options: HeartbeatOptions): Promise<void> {
  try {
    const report = options.report()
    const { outcome } = await options.engine.beat(report)
    if (outcome === 'replaced') options.onReplaced(report.epoch)
    else if (outcome === 'unknown') await options.onUnknown()
    else await options.onCurrent(report.epoch)
  } catch (error) {
    // A closed engine has no next: its closer, or the worker itself, tells.
    if (!isRepriseError(error, 'REPRISE_STORE_CLOSED')) {
      options.log.error('The heartbeat did not reach the store; trying again at the next.', { error })
    }
    options.onError(error)
  }
}
