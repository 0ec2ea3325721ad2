// Renews the leases of everything that runs here, in batches, off the handlers' path. It also brings their progress to
// the store, and ends those whose lease turns out to be gone: cancelled, timed out by the sweep, or taken over.

import { BATCH_MAX, type Backoff, present, type RenewRequest, type Service, type Work } from '@reprise/core'
import { createLoop, type Surroundings } from '@reprise/orchestrator'
import type { ActiveExecution } from './active-execution.ts'

export interface RenewalOptions extends Surroundings {
  readonly engine: Pick<Work, 'renew'>
  readonly active: ReadonlySet<ActiveExecution>
  readonly leaseMs: number
}

/** A lease is renewed this often during its length, so that two renewals in a row may fail. */
const RENEWALS_PER_LEASE = 3
/** Short: after an outage the sweep waits only a grace period for live workers to renew. */
const ERROR_BACKOFF: Backoff = { kind: 'decorrelated', baseMs: 100, maxMs: 1_000 }

export function createRenewal(options: RenewalOptions): Service {
  const round = async (): Promise<number> => {
    await renewLeases(options, [...options.active])
    return Math.floor(options.leaseMs / RENEWALS_PER_LEASE)
  }
  return createLoop('renewal of leases', options, () => ({ round, backoff: ERROR_BACKOFF }))
}

/** Those that turn out to be gone have ended afterwards. */
export async function renewLeases(
  options: Pick<RenewalOptions, 'engine' | 'leaseMs' | 'log' | 'clock'>,
  executions: readonly ActiveExecution[],
): Promise<void> {
  for (let start = 0; start < executions.length; start += BATCH_MAX) {
    // Those that ended while the batch before was under way need no lease any more.
    const batch = executions.slice(start, start + BATCH_MAX).filter(({ ended }) => !ended)
    if (batch.length > 0) await renewBatch(options, batch)
  }
}

async function renewBatch(
  { engine, leaseMs, log, clock }: Pick<RenewalOptions, 'engine' | 'leaseMs' | 'log' | 'clock'>,
  batch: readonly ActiveExecution[],
): Promise<void> {
  const requests = batch.map((execution): RenewRequest => {
    const { taskId, attempt, token } = execution.claimed
    return { taskId, attempt, token, progress: execution.takeProgress(), ...present({ log: execution.takeLog() }) }
  })
  try {
    const leaseEndsAt = clock.monotonic() + leaseMs
    const results = await engine.renew(requests, leaseMs)
    for (const [index, execution] of batch.entries()) {
      const result = results[index]
      if (result?.outcome === 'extended') execution.leaseRenewed(leaseEndsAt)
      // An execution that has ended here meanwhile is expected to be gone there.
      if (result?.outcome !== 'superseded' || execution.ended) continue
      const { taskId, attempt, snapshot } = execution.claimed
      const words = `${snapshot.action} lost its lease (${result.because}); its handler is asked to stop.`
      log.warn(words, { task: taskId, attempt, because: result.because })
      execution.supersede(result.because)
    }
  } catch (error) {
    for (const [index, execution] of batch.entries()) {
      execution.putBackProgress(requests[index]?.progress ?? null)
      if (requests[index]?.log !== undefined) execution.putBackLog()
    }
    throw error
  }
}

/**
 * Brings the last lines of executions that have ended here, before they are settled; null if there are none. Never rejects:
 * settling them matters more.
 */
export function bringLastLines(
  engine: Pick<Work, 'renew'>,
  executions: readonly ActiveExecution[],
  leaseMs: number,
): Promise<void> | null {
  const requests: RenewRequest[] = []
  const concerned: ActiveExecution[] = []
  for (const execution of executions) {
    const log = execution.settlement?.kind === 'released' ? null : execution.takeLog()
    if (log === null) continue
    const { taskId, attempt, token } = execution.claimed
    requests.push({ taskId, attempt, token, progress: null, log })
    concerned.push(execution)
  }
  if (requests.length === 0) return null
  return engine.renew(requests, leaseMs).then(
    () => undefined,
    () => {
      // A store that is away refuses the settlement too: both are brought again.
      for (const execution of concerned) execution.putBackLog()
    },
  )
}
