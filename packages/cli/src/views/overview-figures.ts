// How everything is, put together from many small questions. What the caller may not see, or what is switched off, is null.

import type { Hold, LaneView, WorkerView } from '@reprise/core'
import type { Invocation } from '../command/invocation.ts'
import { lookedThrough, unlessRefused } from '../command/rows.ts'

export const GROUPS_SHOWN = 5

export type Overview = Awaited<ReturnType<typeof overviewOf>>
type Pause = Extract<Hold, { readonly kind: 'paused' }>

export async function overviewOf(api: Invocation['api']) {
  const [counts, workers, breakers, lanes, holds, failureGroups, monitoring] = await Promise.all([
    api.counts(),
    unlessRefused(lookedThrough(api.listWorkers)),
    unlessRefused(lookedThrough(api.listBreakers)),
    unlessRefused(lookedThrough(api.listLanes)),
    unlessRefused(lookedThrough(api.listHolds)),
    unlessRefused(api.listFailureGroups({ limit: GROUPS_SHOWN, order: 'count' })),
    unlessRefused(api.monitoring()),
  ])
  return {
    counts,
    workers: workers === null ? null : { ...byHealth(workers), draining: workers.filter(isDraining).length },
    breakers: breakers?.filter(({ state }) => state.status !== 'closed') ?? null,
    paused: lanes === null ? null : pauses(lanes, holds ?? []),
    failureGroups: failureGroups?.items ?? null,
    monitoring,
  }
}

const isDraining = ({ draining }: WorkerView): boolean => draining

function byHealth(workers: readonly WorkerView[]) {
  const having = (status: WorkerView['health']['status']): number =>
    workers.filter(({ health }) => health.status === status).length
  return { healthy: having('healthy'), degraded: having('degraded'), unhealthy: having('unhealthy') }
}

/**
 * Each hold once, however many lanes it is on, also if it is on none. What is on the lanes of a tenant and not the tenant's own
 * stands with the lanes alone.
 */
function pauses(lanes: readonly LaneView[], holds: readonly Hold[]): readonly Pause[] {
  const paused = [...lanes.flatMap(({ gates }) => gates), ...holds].filter((gate) => gate.kind === 'paused')
  return [...new Map(paused.map((gate) => [JSON.stringify(gate.scope), gate])).values()]
}
