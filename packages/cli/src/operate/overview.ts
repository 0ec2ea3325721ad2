// How everything is, put together from many small questions. What the caller may not see, or what is switched off, is null.

import type { Client, Gate, WorkerView } from '@reprise/client'
import { isRepriseError, PAGE_LIMIT_MAX } from '@reprise/core'
import type { Monitoring } from '@reprise/telemetry'
import type { Invocation } from '../frame/invocation.ts'
import { groupRecord } from '../views/records.ts'
import { allPages } from './pages.ts'
import { storeOf } from './store.ts'

const GROUPS_SHOWN = 5

export type Overview = Awaited<ReturnType<typeof overviewOf>>
export type Hold = Extract<Gate, { readonly kind: 'paused' }>

export async function overviewOf(invocation: Invocation) {
  const client = await invocation.connect()
  const [counts, workers, breakers, paused, failureGroups, monitoring] = await Promise.all([
    client.counts(),
    unlessRefused(workersByHealth(client)),
    unlessRefused(openBreakers(client)),
    unlessRefused(holds(client)),
    unlessRefused(worstGroups(client)),
    unlessRefused(figures(invocation, client)),
  ])
  return { counts, workers, breakers, paused, failureGroups, monitoring }
}

async function unlessRefused<T>(part: Promise<T>): Promise<T | null> {
  try {
    return await part
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_FORBIDDEN') || isRepriseError(error, 'REPRISE_FEATURE_OFF')) return null
    throw error
  }
}

async function workersByHealth(client: Client) {
  const all = await allPages<WorkerView>((page) => client.workers(page))
  const having = (status: WorkerView['health']['status']): number =>
    all.filter(({ health }) => health.status === status).length
  return {
    healthy: having('healthy'),
    degraded: having('degraded'),
    unhealthy: having('unhealthy'),
    draining: all.filter(({ draining }) => draining).length,
  }
}

async function openBreakers(client: Client) {
  const all = await allPages((page) => client.breakers(page))
  return all.filter(({ state }) => state.status !== 'closed')
}

/** Each hold once, however many lanes it is on. */
async function holds(client: Client): Promise<readonly Hold[]> {
  const found = new Map<string, Hold>()
  for (const { gates } of await allPages((page) => client.lanes(page))) {
    for (const gate of gates) if (gate.kind === 'paused') found.set(JSON.stringify(gate.scope), gate)
  }
  return [...found.values()]
}

async function worstGroups(client: Client) {
  const { items } = await client.failureGroups({ limit: PAGE_LIMIT_MAX })
  return items
    .toSorted((one, other) => other.count - one.count)
    .slice(0, GROUPS_SHOWN)
    .map(groupRecord)
}

/** A server has them ready; straight on a store they are made here, in the same way. */
async function figures(invocation: Invocation, client: Client): Promise<Monitoring> {
  const engine = await storeOf(invocation)
  // Made by the same function on the other side.
  if (engine === null) return (await client.figures.monitoring()) as unknown as Monitoring
  const { monitoring } = await import('@reprise/telemetry')
  return monitoring(engine)
}
