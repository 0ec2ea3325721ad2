// Which workers apply which version of the policies, and which of them lag behind the newest. Workers that the server judges
// for say nothing, and a worker that is silent applies nothing.

import { DEFAULT_HEALTH_THRESHOLDS, type WorkerView } from '@reprise/core'
import { plain } from '../output/plain-text.ts'

type Applying = Pick<WorkerView, 'worker' | 'policyVersion' | 'lastBeatAt'>

const NAMED_MAX = 5

/** The version that each worker applies, of those that live. */
export function appliedVersions(workers: readonly Applying[]): ReadonlyMap<string, number> {
  // Held against the last one heard of: the clock here may be another than the store's.
  const heardAt = Math.max(...workers.map(({ lastBeatAt }) => lastBeatAt))
  const applied = new Map<string, number>()
  for (const { worker, policyVersion, lastBeatAt } of workers) {
    if (policyVersion === null || heardAt - lastBeatAt >= DEFAULT_HEALTH_THRESHOLDS.heartbeatStaleMs) continue
    applied.set(worker, policyVersion)
  }
  return applied
}

/** Who lags behind this version, in words; null if nobody does. */
export function lagText(applied: ReadonlyMap<string, number>, newest: number): string | null {
  const lagging = [...applied].filter(([, version]) => version < newest)
  if (lagging.length === 0) return null
  const named = lagging.slice(0, NAMED_MAX).map(([worker, version]) => `${plain(worker)} (${versionText(version)})`)
  const more = lagging.length > NAMED_MAX ? [`${lagging.length - NAMED_MAX} more`] : []
  const who = lagging.length === 1 ? '1 worker does' : `${lagging.length} of ${applied.size} workers do`
  return `${who} not apply version ${newest} yet: ${[...named, ...more].join(', ')}.`
}

const versionText = (version: number): string => (version === 0 ? 'no policies' : `version ${version}`)
