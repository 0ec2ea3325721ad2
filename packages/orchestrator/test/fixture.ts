// A store in memory on a virtual clock, and the few steps that bring a task to where the sweep finds it.

import {
  type ActionName,
  type BeatReport,
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
  type WorkerRegistration,
} from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import type { Meter, MeterLabels } from '@reprise/orchestrator'
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
  const registration = {
    worker: WORKER,
    pools: [DEFAULT_POOL],
    actions: null,
    host: 'h',
    version: '1',
    runtimes: [],
    endpoint: null,
  }
  const { epoch } = await engine.register(registration)
  const request = { worker: WORKER, epoch, pools: [DEFAULT_POOL], actions: null, limit: 1_000, leaseMs: LEASE_MS }
  return (await engine.claim(request)).claimed
}

/** One of the workers that tasks of a directed pool go to. */
export async function joined(engine: Engine, id: string, over: Partial<WorkerRegistration> = {}): Promise<number> {
  const { epoch } = await engine.register({
    worker: id as WorkerId,
    pools: [DEFAULT_POOL],
    actions: null,
    host: 'h',
    version: '1',
    runtimes: [],
    endpoint: null,
    ...over,
  })
  return epoch
}

/** What a worker collects from its inbox. */
export async function collected(engine: Engine, id: string, epoch: number): Promise<readonly Claimed[]> {
  // No lane has this action: only the inbox is left.
  const actions = ['none' as ActionName]
  const request = { worker: id as WorkerId, epoch, pools: [DEFAULT_POOL], actions, limit: 1_000, leaseMs: LEASE_MS }
  return (await engine.claim(request)).claimed
}

export async function beaten(engine: Engine, id: string, epoch: number, over: Partial<BeatReport> = {}): Promise<void> {
  await engine.beat({
    worker: id as WorkerId,
    epoch,
    inFlight: 0,
    queueDepth: 0,
    loopLagMs: 0,
    memoryBytes: 0,
    draining: false,
    maxQuietMs: 0,
    outlook: null,
    ...over,
  })
}

export interface Counted {
  readonly name: string
  readonly labels: MeterLabels
}

/** A meter that keeps what it is told. */
export function keepingMeter(): Meter & { readonly counted: Counted[]; readonly observed: Counted[] } {
  const counted: Counted[] = []
  const observed: Counted[] = []
  return {
    counted,
    observed,
    count: (name, labels) => void counted.push({ name, labels }),
    observe: (name, labels) => void observed.push({ name, labels }),
  }
}

export async function taskOf(engine: Engine, id: TaskId): Promise<Task> {
  const task = await engine.task(id)
  if (task === null) throw new Error(`There is no task ${id}.`)
  return task
}
