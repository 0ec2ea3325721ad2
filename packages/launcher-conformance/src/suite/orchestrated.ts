// The launcher under a real orchestrator on a store: callbacks, losses, time-outs and slots. On the real clock, with a short lease.

import {
  type ActionName,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Engine,
  JSON_NULL,
  type PoolName,
  type RetryToken,
  succeeded,
  type TaskId,
  type TaskSpec,
} from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createLaunch, createReconcile, LaunchLedger, openLeaseCredentials } from '@reprise/orchestrator'
import { expect } from 'vitest'
import type { LauncherStage, StagedWorker } from '../factory.ts'
import { until } from '../orders.ts'
import type { Check } from '../subject.ts'

const POOL = 'ephemeral' as PoolName
const LEASE_MS = 3_000
const SLOTS = 4

export const orchestrated: readonly Check[] = [
  {
    title:
      'A11, A16: under an orchestrator: a callback before the handle is noted counts, an end without one is lost, a time-out stops the worker, and all slots are free again',
    async run({ stage }) {
      const engine = await openSqliteEngine({ path: ':memory:' })
      const launcher = stage.launcher()
      const ledger = new LaunchLedger(POOL, SLOTS)
      const early = Promise.withResolvers<void>()
      const options = {
        engine,
        launcher,
        ledger,
        leaseMs: LEASE_MS,
        intervalMs: 50,
        graceMs: 0,
        endGraceMs: 1_000,
        // The worker of 'early' calls back before anybody noted what it is known by.
        at: async (point: string, key: string) => {
          if (point !== 'launched' || !key.startsWith('early:')) return
          await callBack(engine, await workerOf(stage, engine, 'early'))
          early.resolve()
        },
      }
      const launch = createLaunch(options)
      const reconcile = createReconcile(options)
      await reconcile.start()
      await launch.start()
      try {
        await submit(engine, stage.action, 'early', {})
        await early.promise
        await until('the callback counts', async () => (await statusOf(engine, 'early')) === 'succeeded')

        await submit(engine, stage.action, 'silent', { maxLosses: 0 })
        const silent = await workerOf(stage, engine, 'silent')
        await silent.vanish()
        await submit(engine, stage.action, 'slow', { timeoutMs: 500, maxRetries: 0 })
        await until('the end without a callback is found', async () => (await statusOf(engine, 'silent')) === 'dead')
        expect(await engine.execution('silent' as TaskId, 1)).toMatchObject({ status: 'lost' })
        await until('the time-out is found', async () => (await statusOf(engine, 'slow')) === 'dead')
        expect(await engine.execution('slow' as TaskId, 1)).toMatchObject({ status: 'failed', errorCode: 'timeout' })

        await until('all slots are free', () => ledger.taken === 0)
        const counts = await engine.counts()
        expect(counts).toMatchObject({ accepted: 3, succeeded: 1, dead: 2, running: 0, queued: 0, waiting: 0 })
      } finally {
        await launch.stop()
        await reconcile.stop()
        await engine.close()
      }
    },
  },
]

/** The worker that was started for this task: it is known by its token. */
async function workerOf(stage: LauncherStage, engine: Engine, id: string): Promise<StagedWorker> {
  const credentials = await openLeaseCredentials(engine)
  const isFor = ({ token }: StagedWorker): boolean =>
    credentials.read({ taskId: id as TaskId, attempt: 1, credential: token }) !== null
  await until(`a worker runs for ${id}`, () => stage.workers().some(isFor))
  const worker = stage.workers().find(isFor)
  if (worker === undefined) throw new Error(`Nothing was started for ${id}.`)
  return worker
}

/** As the server does it for `POST /task-complete`. */
async function callBack(engine: Engine, { token }: StagedWorker): Promise<void> {
  const credentials = await openLeaseCredentials(engine)
  const ref = credentials.read({ taskId: 'early' as TaskId, attempt: 1, credential: token })
  if (ref === null) throw new Error('The worker has no token of its attempt.')
  await engine.settle([succeeded(ref, JSON_NULL)])
}

async function statusOf(engine: Engine, id: string): Promise<string | undefined> {
  return (await engine.task(id as TaskId))?.state.status
}

async function submit(
  engine: Engine,
  action: string,
  id: string,
  settings: Partial<TaskSpec['settings']>,
): Promise<void> {
  const spec: TaskSpec = {
    id: id as TaskId,
    action: action as ActionName,
    pool: POOL,
    tenant: DEFAULT_TENANT,
    payload: JSON_NULL,
    labels: {},
    priority: 5,
    retryToken: `retry of ${id}` as RetryToken,
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
    settings: { ...DEFAULT_SETTINGS, ...settings },
  }
  await engine.submit([spec])
}
