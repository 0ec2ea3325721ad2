// Operations about workers: see them, and have one finish what it has. What a worker itself does is the hot path.

import {
  type DepartedWorker,
  type Engine,
  isAlive,
  NotFoundError,
  orderDrain,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import { z } from 'zod'
import { byOf } from './access/caller.ts'
import { given } from './given.ts'
import { operation, viewOf } from './operation.ts'
import { PageQuery, pageOf, ReasonInput, WorkerIdInput } from './schemas/names.ts'
import { Changed, DepartedWorkerView, WorkerView as WorkerSchema } from './schemas/operations.ts'

/** How it stands at this moment, beside what the store keeps. */
export interface WorkerNow extends WorkerView {
  readonly alive: boolean
  readonly lastHealthCheckAt: number
}
const Worker = viewOf<WorkerNow>(WorkerSchema)

/** Its health is judged by what its last heartbeat brought. */
function viewAt(now: number, worker: WorkerView, engine: Engine): WorkerNow {
  const alive = isAlive(worker, now, engine.healthThresholds.heartbeatStaleMs)
  return { ...worker, alive, lastHealthCheckAt: worker.lastBeatAt }
}
const DepartedWorkerOutput = viewOf<DepartedWorker>(DepartedWorkerView)

async function workerOf(engine: Engine, id: WorkerId): Promise<WorkerView> {
  const worker = await engine.worker(id)
  if (worker === null) throw new NotFoundError('worker', id)
  return worker
}

export const workerOperations = {
  listWorkers: operation({
    route: 'GET /api/v1/workers',
    summary: 'List workers',
    tag: 'workers',
    right: 'read',
    tenants: 'all',
    input: PageQuery,
    output: pageOf(Worker, 'WorkerPage'),
    answer: 'With their health and its reasons.',
    run: async ({ engine }, _, page) => {
      const [now, { items, ...rest }] = await Promise.all([engine.now(), engine.workers(given(page))])
      return { ...rest, items: items.map((worker) => viewAt(now, worker, engine)) }
    },
  }),
  listDepartedWorkers: operation({
    route: 'GET /api/v1/departed-workers',
    summary: 'List workers that left',
    tag: 'workers',
    right: 'read',
    tenants: 'all',
    input: PageQuery,
    output: pageOf(DepartedWorkerOutput, 'DepartedWorkerPage'),
    answer: 'Those of the last day that did not come back, the latest first. They get no work and count nowhere.',
    run: ({ engine }, _, page) => engine.departed(given(page)),
  }),
  getWorker: operation({
    route: 'GET /api/v1/workers/{id}',
    summary: 'Get a worker',
    tag: 'workers',
    right: 'read',
    tenants: 'all',
    input: z.object({ id: WorkerIdInput }),
    output: Worker,
    answer: 'The worker.',
    problems: [404],
    run: async ({ engine }, _, { id }) => viewAt(await engine.now(), await workerOf(engine, id), engine),
  }),
  drainWorker: operation({
    audit: async ({ engine }, _caller, { id }) => ({ health: (await engine.worker(id))?.health ?? null }),
    route: 'POST /api/v1/workers/{id}/drain',
    summary: 'Have a worker finish what it has and take nothing new',
    tag: 'workers',
    right: 'operate',
    tenants: 'all',
    input: z.object({ id: WorkerIdInput, reason: ReasonInput.optional() }),
    output: Changed,
    answer: 'It is told at its next heartbeat.',
    repeatable: true,
    problems: [404],
    run: async ({ engine }, caller, { id, reason }) => {
      const { epoch } = await workerOf(engine, id)
      return { changed: await orderDrain(engine, id, epoch, byOf(caller, reason)) }
    },
  }),
}
