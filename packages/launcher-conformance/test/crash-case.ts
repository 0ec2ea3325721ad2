// One crash: an orchestrator in a process of its own is killed by SIGKILL at one step of a launch, and another one takes over. The test
// plays the worker, and counts the callbacks that are accepted.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectEngine } from '@reprise/connect'
import {
  type ActionName,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Engine,
  JSON_NULL,
  type RetryToken,
  succeeded,
  type TaskId,
  type TaskSpec,
} from '@reprise/core'
import { createLaunch, createReconcile, LaunchLedger, openLeaseCredentials } from '@reprise/orchestrator'
import { startRedis } from '@reprise/test-servers'
import { expect } from 'vitest'
import type { StagedWorker } from '../src/index.ts'
import { until } from '../src/orders.ts'
import { POOL, TIMES } from './services.ts'
import type { PlatformStep, SteppedFactory, SteppedStage } from './steps.ts'

/** Between the lines of the orchestrator, or between its call and the platform's answer. */
export type CrashPoint = 'reserved' | 'launched' | 'noted' | PlatformStep

export const CRASH_POINTS: readonly CrashPoint[] = [
  'reserved',
  'started',
  'launched',
  'noted',
  'looked',
  'stopped',
  'removed',
]

export const STORES = ['sqlite', 'redis'] as const
export type StoreKind = (typeof STORES)[number]

const ID = 'task 1' as TaskId
const ATTEMPTS_MAX = 3

/** Null if nothing of the kind happens on this platform. */
export async function survivesCrash(
  factory: SteppedFactory,
  point: CrashPoint,
  kind: StoreKind,
): Promise<string | null> {
  const stage = await factory.open()
  const store = await openStore(kind)
  const connection = await connectEngine(store.address)
  const { engine } = connection
  try {
    const isOfPlatform = point !== 'reserved' && point !== 'launched' && point !== 'noted'
    if (isOfPlatform && !stage.steps.includes(point)) return null
    await submit(engine, stage.action, point === 'stopped' ? 400 : 60_000)
    await crash(stage, store.address, point)
    return await recovered(stage, engine)
  } finally {
    await stage.close()
    await connection.close()
    await store.remove()
  }
}

async function openStore(kind: StoreKind): Promise<{ readonly address: string; remove(): Promise<void> }> {
  if (kind === 'redis') {
    const server = await startRedis({ appendonly: true })
    return { address: server.url, remove: () => server.stop() }
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-crash-'))
  return {
    address: `sqlite:${join(folder, 'store.db')}`,
    remove: async () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  }
}

async function crash(stage: SteppedStage, address: string, point: CrashPoint): Promise<void> {
  const child = orchestratorProcess([address, JSON.stringify(stage.recipe), point])
  const killed = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const endsSilently = point === 'looked' || point === 'removed'
  stage.onStep = (step) => {
    const isThere = step === point && (!endsSilently || stage.workers().some((worker) => !worker.isRunning()))
    if (isThere) child.kill('SIGKILL')
  }
  try {
    if (endsSilently) {
      await until('a worker runs', () => stage.workers().length > 0)
      await stage.workers()[0]?.vanish()
    }
    expect(await killed).toBe('SIGKILL')
  } finally {
    stage.onStep = null
    child.kill('SIGKILL')
  }
}

function orchestratorProcess(argv: readonly string[]): ChildProcess {
  const script = join(import.meta.dirname, 'crashing-orchestrator.ts')
  return spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', script, ...argv], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Another orchestrator, with one slot, brings the task to its end; says how. */
async function recovered(stage: SteppedStage, engine: Engine): Promise<string> {
  const ledger = new LaunchLedger(POOL, 1)
  const launcher = stage.launcher()
  // Loads what it needs: a busy machine takes long for that.
  await launcher.look([{ key: 'none', handle: null }])
  const options = { engine, launcher, ledger, ...TIMES }
  const reconcile = createReconcile(options)
  const launch = createLaunch(options)
  await reconcile.start()
  await launch.start()
  let accepted = 0
  try {
    await until('the task has ended', async () => {
      // Each worker that lives reports, whoever started it, and ends.
      for (const worker of stage.workers().filter((one) => one.isRunning())) {
        if (!(await callBack(engine, worker))) continue
        accepted += 1
        await worker.vanish()
      }
      const task = await engine.task(ID)
      return task?.state.status === 'succeeded' || task?.state.status === 'dead'
    })
    // What was superseded reports late.
    for (const worker of stage.workers()) if (await callBack(engine, worker)) accepted += 1
    await until('all slots are free', () => ledger.taken === 0)
  } finally {
    await launch.stop()
    await reconcile.stop()
  }
  const task = await engine.task(ID)
  const executions = await Promise.all(
    Array.from({ length: ATTEMPTS_MAX }, (_, index) => engine.execution(ID, index + 1)),
  )
  const statuses = executions.flatMap((one) => (one === null ? [] : [one.status]))
  expect(accepted).toBe(1)
  expect(task?.state.status).toBe('succeeded')
  expect(statuses.filter((status) => status === 'succeeded')).toHaveLength(1)
  expect((await engine.launches({ pool: POOL, limit: 10 })).items).toEqual([])
  expect(await engine.counts()).toMatchObject({ accepted: 1, succeeded: 1, running: 0, queued: 0, waiting: 0 })
  return `${statuses.join(', ')}; ${stage.workers().length} started`
}

/** As the server does it for `POST /task-complete`; says whether it was accepted, now and for the first time. */
async function callBack(engine: Engine, { token }: StagedWorker): Promise<boolean> {
  const credentials = await openLeaseCredentials(engine)
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const ref = credentials.read({ taskId: ID, attempt, credential: token })
    if (ref === null) continue
    const [answer] = await engine.settle([succeeded(ref, JSON_NULL)])
    return answer?.outcome === 'settled' && !answer.repeated
  }
  return false
}

async function submit(engine: Engine, action: string, timeoutMs: number): Promise<void> {
  const spec: TaskSpec = {
    id: ID,
    action: action as ActionName,
    pool: POOL,
    tenant: DEFAULT_TENANT,
    payload: JSON_NULL,
    labels: {},
    priority: 5,
    retryToken: 'retry 1' as RetryToken,
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
    settings: {
      ...DEFAULT_SETTINGS,
      timeoutMs,
      maxRetries: ATTEMPTS_MAX,
      maxLosses: ATTEMPTS_MAX,
      backoff: { kind: 'exponential', baseMs: 10, multiplier: 1, maxMs: 10, jitter: 0 },
    },
  }
  await engine.submit([spec])
}
