// A store in memory on a virtual clock, and the few steps that bring a task to where the sweep finds it.

import {
  type ActionName,
  type Claimed,
  DEFAULT_POOL,
  DEFAULT_SETTINGS,
  DEFAULT_TENANT,
  type Engine,
  JSON_NULL,
  type RetryToken,
  type Task,
  type TaskId,
  type TaskSpec,
  VirtualClock,
  type WorkerId,
} from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { onTestFinished } from 'vitest'

const WORKER = 'w1' as WorkerId
export const LEASE_MS = 15_000

export interface Store {
  readonly engine: Engine
  readonly clock: VirtualClock
}

export async function openStore(): Promise<Store> {
  const clock = new VirtualClock()
  const engine = await openSqliteEngine({ path: ':memory:', clock })
  onTestFinished(() => engine.close())
  return { engine, clock }
}

type SpecChange = Omit<Partial<TaskSpec>, 'id' | 'settings'> & { readonly settings?: Partial<TaskSpec['settings']> }

export async function submitted(engine: Engine, id: string, change: SpecChange = {}): Promise<TaskId> {
  const spec: TaskSpec = {
    action: 'work' as ActionName,
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    payload: JSON_NULL,
    labels: {},
    priority: 5,
    retryToken: `token of ${id}` as RetryToken,
    dedupeKey: null,
    delayMs: 0,
    dueAt: null,
    deadlineAt: null,
    deadlineMs: null,
    ...change,
    id: id as TaskId,
    settings: { ...DEFAULT_SETTINGS, ...change.settings },
  }
  await engine.submit([spec])
  return spec.id
}

/** Claims everything there is, as one worker that will never renew. */
export async function claimed(engine: Engine): Promise<readonly Claimed[]> {
  const registration = { worker: WORKER, pools: [DEFAULT_POOL], actions: null, host: 'h', version: '1', runtimes: [] }
  const { epoch } = await engine.register(registration)
  const request = { worker: WORKER, epoch, pools: [DEFAULT_POOL], actions: null, limit: 1_000, leaseMs: LEASE_MS }
  return (await engine.claim(request)).claimed
}

export async function taskOf(engine: Engine, id: TaskId): Promise<Task> {
  const task = await engine.task(id)
  if (task === null) throw new Error(`There is no task ${id}.`)
  return task
}
