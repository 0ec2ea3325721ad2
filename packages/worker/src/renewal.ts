// Renews the leases of everything that runs here, in batches, off the handlers' path. It also brings their progress to
// the store, and ends those whose lease turns out to be gone: cancelled, timed out by the sweep, or taken over.

import {
  BATCH_MAX,
  type Backoff,
  type Clock,
  type Logger,
  type Random,
  type RenewRequest,
  type Service,
  type Work,
} from '@reprise/core'
import { createLoop } from '@reprise/orchestrator'
import type { ActiveExecution } from './active-execution.ts'

export interface RenewalOptions {
  readonly engine: Work
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly active: ReadonlySet<ActiveExecution>
  readonly leaseMs: number
  readonly onError: (error: unknown) => void
}

/** A lease is renewed this often during its length, so that two renewals in a row may fail. */
const RENEWALS_PER_LEASE = 3
/** Short: after an outage the sweep waits only a grace period for live workers to renew. */
const ERROR_BACKOFF: Backoff = { kind: 'decorrelated', baseMs: 100, maxMs: 1_000 }

export function createRenewal(options: RenewalOptions): Service {
  const round = async (): Promise<number> => {
    await renewAll(options)
    return Math.floor(options.leaseMs / RENEWALS_PER_LEASE)
  }
  return createLoop('renewal of leases', options, () => ({ round, backoff: ERROR_BACKOFF }))
}

async function renewAll({ engine, active, leaseMs, log }: RenewalOptions): Promise<void> {
  const executions = [...active]
  for (let start = 0; start < executions.length; start += BATCH_MAX) {
    // Those that ended while the batch before was under way need no lease any more.
    const batch = executions.slice(start, start + BATCH_MAX).filter(({ ended }) => !ended)
    if (batch.length > 0) await renewBatch(engine, batch, leaseMs, log)
  }
}

async function renewBatch(
  engine: Work,
  batch: readonly ActiveExecution[],
  leaseMs: number,
  log: Logger,
): Promise<void> {
  const requests = batch.map((execution): RenewRequest => {
    const { taskId, attempt, token } = execution.claimed
    return { taskId, attempt, token, progress: execution.takeProgress() }
  })
  try {
    const results = await engine.renew(requests, leaseMs)
    for (const [index, execution] of batch.entries()) {
      const result = results[index]
      // An execution that has ended here meanwhile is expected to be gone there.
      if (result?.outcome !== 'superseded' || execution.ended) continue
      const { taskId, attempt, snapshot } = execution.claimed
      const words = `${snapshot.action} lost its lease (${result.because}); its handler is asked to stop.`
      log.warn(words, { task: taskId, attempt, because: result.because })
      execution.supersede(result.because)
    }
  } catch (error) {
    for (const [index, execution] of batch.entries()) execution.putBackProgress(requests[index]?.progress ?? null)
    throw error
  }
}
