// The worker registry in all partitions. The home draws the epoch; the others are told it first, so that a worker the home
// knows is known everywhere. An older epoch never replaces a newer one. For what the store saw of a
// worker see evidence.ts.

import type {
  BeatReport,
  BeatResult,
  Page,
  PageRequest,
  ProbeReport,
  WorkerId,
  WorkerRegistration,
  WorkerView,
} from '@reprise/core'
import { assessHealth } from '@reprise/core/engine'
import { beat, deregister, findWorkers, listWorkers, probed, registerThere } from '../registry.ts'
import { drawEpochScript } from '../scripts.generated.ts'
import type { Partitions } from './partitions.ts'

export async function registerAll(
  { home, all }: Partitions,
  registration: WorkerRegistration,
): Promise<{ readonly epoch: number }> {
  const epoch = String(await home.run(drawEpochScript, []))
  const others = await Promise.all(all.slice(1).map((partition) => registerThere(partition, registration, [epoch, ''])))
  const leases = others.reduce((sum, there) => sum + there.leases, 0)
  await registerThere(home, registration, [epoch, String(leases)])
  return { epoch: Number(epoch) }
}

export async function beatAll(store: Partitions, report: BeatReport): Promise<BeatResult> {
  const outcomes = (await store.each((partition) => beat(partition, report))).map(({ outcome }) => outcome)
  // A replaced worker must not register again, so that comes first.
  if (outcomes.includes('replaced')) return { outcome: 'replaced' }
  return { outcome: outcomes.includes('unknown') ? 'unknown' : 'current' }
}

/** Everywhere: each partition looks at its own evidence when it leaves a retry to a better worker. */
export async function probedAll(store: Partitions, reports: readonly ProbeReport[]): Promise<void> {
  await store.each((partition) => probed(partition, reports))
}

export async function deregisterAll(store: Partitions, worker: WorkerId, epoch: number): Promise<void> {
  await store.each((partition) => deregister(partition, worker, epoch))
}

/** By id. */
export async function listAllWorkers(store: Partitions, page: PageRequest | undefined): Promise<Page<WorkerView>> {
  const { items, next } = await listWorkers(store.home, page)
  return { items: await withSignsOfLife(store, items), next }
}

/** The first workers by id, as many as are asked for at the most. */
export async function allWorkers(store: Partitions, max: number): Promise<readonly WorkerView[]> {
  return (await listAllWorkers(store, { limit: max })).items
}

/** What the home knows of these workers, with the signs of life of all partitions; unknown ones are left out. */
export async function findAllWorkers(store: Partitions, ids: readonly WorkerId[]): Promise<readonly WorkerView[]> {
  const { found } = await findWorkers(store.home, ids)
  return withSignsOfLife(store, found)
}

/**
 * The home has the evidence; a sign of life may have been given, and something been finished or
 * assigned, in any partition.
 */
async function withSignsOfLife(
  { home, all }: Partitions,
  workers: readonly WorkerView[],
): Promise<readonly WorkerView[]> {
  if (workers.length === 0) return []
  const ids = workers.map(({ worker }) => worker)
  const [now, ...seen] = await Promise.all([
    home.now(),
    ...all.slice(1).map(async (partition) => {
      const { found, inboxes } = await findWorkers(partition, ids)
      return new Map(found.map((view, index) => [view.worker, { view, inbox: inboxes[index] ?? 0 }]))
    }),
  ])
  return workers.map((worker) => {
    const elsewhere = seen.flatMap((there) => there.get(worker.worker) ?? [])
    const views = [worker, ...elsewhere.map(({ view }) => view)]
    const lastBeatAt = Math.max(...views.map((view) => view.lastBeatAt))
    const lastProgressAt = Math.max(...views.map((view) => view.lastProgressAt))
    const queueDepth = elsewhere.reduce((depth, { inbox }) => depth + inbox, worker.queueDepth)
    const view = { ...worker, lastBeatAt, lastProgressAt, queueDepth }
    return { ...view, health: assessHealth(view, now, home.thresholds) }
  })
}
