// How everything is, put together from many small questions. What the caller may not see, or what is switched off, is null.

import type { Client } from '@reprise/client'
import { type Gate, type LaneView, PAGE_LIMIT_MAX, type WorkerView } from '@reprise/core'
import { lookedThrough, unlessRefused } from '../command/rows.ts'

const GROUPS_SHOWN = 5

export type Overview = Awaited<ReturnType<typeof overviewOf>>['overview']
type Hold = Extract<Gate, { readonly kind: 'paused' }>

export async function overviewOf(client: Client) {
  const [counts, workers, breakers, lanes, failureGroups, monitoring] = await Promise.all([
    client.counts(),
    unlessRefused(lookedThrough(client.listWorkers)),
    unlessRefused(lookedThrough(client.listBreakers)),
    unlessRefused(lookedThrough(client.listLanes)),
    unlessRefused(client.listFailureGroups({ limit: PAGE_LIMIT_MAX })),
    unlessRefused(client.monitoring()),
  ])
  const overview = {
    counts,
    workers: workers === null ? null : { ...byHealth(workers), draining: workers.filter(isDraining).length },
    breakers: breakers?.filter(({ state }) => state.status !== 'closed') ?? null,
    paused: lanes === null ? null : holds(lanes),
    failureGroups:
      failureGroups?.items.toSorted((one, other) => other.count - one.count).slice(0, GROUPS_SHOWN) ?? null,
    monitoring,
  }
  return { overview, staff: workers === null || lanes === null ? null : staffOf(workers, lanes) }
}

const isDraining = ({ draining }: WorkerView): boolean => draining

function byHealth(workers: readonly WorkerView[]) {
  const having = (status: WorkerView['health']['status']): number =>
    workers.filter(({ health }) => health.status === status).length
  return { healthy: having('healthy'), degraded: having('degraded'), unhealthy: having('unhealthy') }
}

/** Each hold once, however many lanes it is on. */
function holds(lanes: readonly LaneView[]): readonly Hold[] {
  const paused = lanes.flatMap(({ gates }) => gates).filter((gate) => gate.kind === 'paused')
  return [...new Map(paused.map((gate) => [JSON.stringify(gate.scope), gate])).values()]
}

export type Staff = ReturnType<typeof staffOf>

/** Who takes work, and what waits for somebody who does. A worker that drains takes nothing new, whatever its health. */
function staffOf(workers: readonly WorkerView[], lanes: readonly LaneView[]) {
  const staying = workers.filter((worker) => !isDraining(worker))
  const taking = staying.filter(({ health }) => health.status !== 'unhealthy')
  const isServed = ({ pool, action }: LaneView): boolean =>
    taking.some(({ pools, actions }) => pools.includes(pool) && (actions === null || actions.includes(action)))
  return {
    ...byHealth(staying),
    draining: workers.length - staying.length,
    /** Lanes with queued tasks that no worker takes. */
    unservedLanes: lanes.filter((lane) => lane.counts.queued > 0 && !isServed(lane)).length,
  }
}
