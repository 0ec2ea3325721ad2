// Operations about workers: see them, and have one finish what it has. What a worker itself does is the hot path.

import { type Engine, NotFoundError, orderDrain, type WorkerId, type WorkerView } from '@reprise/core'
import { z } from 'zod'
import { byOf } from './access/caller.ts'
import { given } from './given.ts'
import { operation, viewOf } from './operation.ts'
import { PageQuery, pageOf, ReasonInput, WorkerIdInput } from './schemas/names.ts'
import { Changed, WorkerView as WorkerSchema } from './schemas/operations.ts'

const Worker = viewOf<WorkerView>(WorkerSchema)

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
    run: ({ engine }, _, page) => engine.workers(given(page)),
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
    run: ({ engine }, _, { id }) => workerOf(engine, id),
  }),
  drainWorker: operation({
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
