// The build of an attempt's worker, as the rows that name workers keep it: JSON, or '' where it is not known.

import type { LastWorker, LeaseStage, WorkerBuild, WorkerId } from '@reprise/core'
import { registrationOf, type WorkerRow } from './registry.ts'

export const NO_BUILD = ''

/** What a registered worker's attempts of this stage say of it; dispatchers and launchers run nothing themselves. */
export function buildText(row: WorkerRow | undefined, stage: LeaseStage): string {
  if (row === undefined || stage === 'dispatch' || stage === 'launch') return NO_BUILD
  const { version, host, runtimes } = registrationOf(row)
  return JSON.stringify({ version, host, runtimes } satisfies WorkerBuild)
}

/** Null for an attempt without a worker, too. */
export const buildOf = (text: string | null): WorkerBuild | null =>
  text === null || text === NO_BUILD ? null : (JSON.parse(text) as WorkerBuild)

export function lastWorkerOf({ name, build }: { readonly name: string; readonly build: string }): LastWorker {
  const known = buildOf(build)
  return { worker: name as WorkerId, version: known?.version ?? null, host: known?.host ?? null }
}
