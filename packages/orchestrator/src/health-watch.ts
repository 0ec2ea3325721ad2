// Tells the journal how the health of workers changes: who became unwell, why, and when it was over. Health itself is weighed anew
// at each look; this remembers what was told last, one document for each worker that is or was unwell:
// - no document: the worker is well, as far as was told.
// - **degraded** or **unhealthy**: it was told so.
// - **healthy**: it was told that it is well again. The next look removes the document.
// A change is told when a second look finds it as well, so that a worker on the edge does not fill the journal.

import {
  allPages,
  type Engine,
  type HealthStatus,
  isRepriseError,
  type JournalEntryInput,
  type Service,
  type Stored,
  stepOrInsertTold,
  type ToldDocument,
  tellLeftovers,
  untoldIndex,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import { createLoop, jitteredMs, type ServiceOptions, surroundings } from './service.ts'

export interface HealthWatchOptions extends ServiceOptions {
  readonly engine: Pick<Engine, 'workers' | 'now' | 'collection' | 'journal'>
  readonly intervalMs?: number
}

interface ToldHealth extends ToldDocument {
  readonly status: HealthStatus
}

const INTERVAL_MS = 5_000
const WORKERS_MAX = 1_000

export function createHealthWatch(options: HealthWatchOptions): Service {
  const around = surroundings('health watch', options)
  const { engine, intervalMs = INTERVAL_MS } = options
  const told = engine.collection<ToldHealth>({ name: 'worker-health', indexes: { untold: untoldIndex } })
  return createLoop('health watch', around, () => {
    let seen: ReadonlyMap<WorkerId, HealthStatus> = new Map()
    return {
      async round() {
        await tellLeftovers(engine.journal, told, await engine.now())
        const { items: workers } = await allPages((page) => engine.workers(page), WORKERS_MAX)
        const { items: documents } = await allPages((page) => told.list(page), WORKERS_MAX)
        const known = new Map(documents.map((stored) => [stored.document.id, stored]))
        for (const view of workers) {
          const { worker, health } = view
          const stored = known.get(worker)
          known.delete(worker)
          const was = stored?.document.status ?? 'healthy'
          if (health.status !== was) {
            if (seen.get(worker) === health.status) await tellChange(view)
          } else if (stored !== undefined && was === 'healthy') await forget(stored)
        }
        // Those that are left are of workers that are gone, which the journal tells by itself.
        for (const stored of known.values()) await forget(stored)
        seen = new Map(workers.map(({ worker, health }) => [worker, health.status]))
        return jitteredMs(intervalMs, around.random)
      },
    }
  })

  /** Unless something is still to be told of it, or another process has just taken a step with it. */
  async function forget({ document, version }: Stored<ToldHealth>): Promise<void> {
    if (document.untold.length > 0) return
    try {
      await told.remove(document.id, version)
    } catch (error) {
      if (!isRepriseError(error, 'REPRISE_CONFLICT')) throw error
    }
  }

  async function tellChange(view: WorkerView): Promise<void> {
    const { status } = view.health
    const first: ToldHealth = { id: view.worker, status: 'healthy', untold: [] }
    await stepOrInsertTold(engine.journal, told, first, (one) =>
      one.status === status ? null : { ...one, status, untold: [...one.untold, healthEntry(view, one.status)] },
    )
  }
}

function healthEntry({ worker, version, host, health }: WorkerView, from: HealthStatus): JournalEntryInput {
  const { status, reasons } = health
  const reason =
    status === 'healthy'
      ? `Worker ${worker} is healthy again.`
      : `Worker ${worker} is ${status}: ${reasons.join('; ')}.`
  const data = { worker, version, host, from, to: status }
  return { type: 'worker.health', taskId: null, attempt: null, actor: 'orchestrator', reason, data }
}
