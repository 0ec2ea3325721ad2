// Whether a worker is alive (D1): the store has heard of it within its time to live. Registering counts as being heard of, so
// that a worker whose first heartbeat has not come yet is not stale (D7).

import type { HealthEvidence } from './health.ts'

/** How long a worker counts as alive after it was heard of, unless the configuration says otherwise. */
export const LIVENESS_TTL_MS = 30_000

export function isAlive(
  worker: Pick<HealthEvidence, 'lastBeatAt'>,
  now: number,
  ttlMs: number = LIVENESS_TTL_MS,
): boolean {
  return now - worker.lastBeatAt < ttlMs
}
