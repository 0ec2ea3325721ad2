// What the tests of every subject share: a fresh store on a clock that stands still, and short builders for tasks,
// workers, failures and decisions. A test names only what matters to it; everything else has the value given here.

import {
  actionName,
  type BeatReport,
  type BeatResult,
  type Claimed,
  type ClaimRequest,
  type ClaimResult,
  DEFAULT_POOL,
  DEFAULT_TENANT,
  type DeadReason,
  type Decision,
  type Engine,
  type ErrorCode,
  encodeJson,
  type Failure,
  type FailureReason,
  isRepriseError,
  type JournalEntry,
  observedFailure,
  type PoolName,
  poolName,
  retryToken,
  type SubmitResult,
  type TaskId,
  type TaskSettings,
  type TaskSpec,
  type TaskStatus,
  taskId,
  VirtualClock,
  type WorkerId,
  workerId,
} from '@reprise/core'
import { expect } from 'vitest'
import type { EngineFactory, EngineOptions } from '../factory.ts'

/** When every test begins. A whole minute. */
export const START = Date.UTC(2030, 0, 1)
export const LEASE_MS = 10_000
export const TIMEOUT_MS = 60_000
export const BY = { actor: 'operator:ann', reason: 'a test' } as const
export const ACTION = actionName('render')

const SETTINGS: TaskSettings = {
  timeoutMs: TIMEOUT_MS,
  maxRetries: 3,
  maxLosses: 3,
  queueTtlMs: null,
  backoff: { kind: 'fixed', delayMs: 1_000, jitter: 0 },
  retryUnknown: false,
}

export type SpecInput = Partial<Omit<TaskSpec, 'id' | 'settings' | 'payload'>> & {
  readonly id: string
  readonly payload?: unknown
  readonly settings?: Partial<TaskSettings>
}

export function taskSpec(input: SpecInput): TaskSpec {
  return {
    action: ACTION,
    pool: DEFAULT_POOL,
    tenant: DEFAULT_TENANT,
    labels: {},
    priority: 5,
    retryToken: retryToken(`retry-${input.id}`),
    dedupeKey: null,
    deadlineAt: null,
    delayMs: 0,
    dueAt: null,
    deadlineMs: null,
    ...input,
    id: taskId(input.id),
    payload: encodeJson(input.payload ?? {}, 'payload'),
    settings: { ...SETTINGS, ...input.settings },
  }
}

export function failure(reason: FailureReason = 'timeout', message = 'It took too long.'): Failure {
  return observedFailure(reason, message, ACTION)
}

export function retryIn(delayMs: number, reason: FailureReason = 'timeout'): Decision {
  return { kind: 'retry', delayMs, reason, rule: `code:${reason}`, sentence: `Retry in ${delayMs} ms.` }
}

export function dead(reason: DeadReason = 'not_retriable'): Decision {
  return { kind: 'dead', reason, rule: 'code:validation', sentence: 'It does not go away by itself.' }
}

/** What a worker reports that has nothing to do. */
export const IDLE: Omit<BeatReport, 'worker' | 'epoch'> = {
  inFlight: 0,
  queueDepth: 0,
  loopLagMs: 0,
  memoryBytes: 0,
  draining: false,
  maxQuietMs: 0,
  outlook: null,
}

export interface WorkerInput {
  readonly pools?: readonly PoolName[]
  readonly actions?: ClaimRequest['actions']
  readonly host?: string
  readonly version?: string
}

export interface TestWorker {
  readonly id: WorkerId
  readonly epoch: number
  request(changes?: Partial<ClaimRequest>): ClaimRequest
  claim(limit?: number, changes?: Partial<ClaimRequest>): Promise<ClaimResult>
  /** The ids of what it got. */
  claimIds(limit?: number, changes?: Partial<ClaimRequest>): Promise<readonly string[]>
  /** Exactly one task; the test fails if it gets none. */
  claimOne(changes?: Partial<ClaimRequest>): Promise<Claimed>
  /** Reports that it is idle and well, but for what is given. */
  beat(changes?: Partial<BeatReport>): Promise<BeatResult>
}

export class Store {
  readonly engine: Engine
  readonly clock: VirtualClock

  constructor(engine: Engine, clock: VirtualClock) {
    this.engine = engine
    this.clock = clock
  }

  static async open(factory: EngineFactory, options: Omit<EngineOptions, 'clock'> = {}): Promise<Store> {
    const clock = new VirtualClock(START)
    return new Store(await factory.open({ ...options, clock }), clock)
  }

  submit(...tasks: readonly SpecInput[]): Promise<readonly SubmitResult[]> {
    return this.engine.submit(tasks.map(taskSpec))
  }

  async worker(name = 'w1', input: WorkerInput = {}): Promise<TestWorker> {
    const { pools = [DEFAULT_POOL], actions = null, host = 'here', version = '1' } = input
    const id = workerId(name)
    const { epoch } = await this.engine.register({
      worker: id,
      pools,
      actions,
      host,
      version,
      runtimes: [],
      endpoint: null,
    })
    const request = (changes: Partial<ClaimRequest> = {}): ClaimRequest => {
      return { worker: id, epoch, pools, actions, limit: 1, leaseMs: LEASE_MS, ...changes }
    }
    const claim = (limit = 1, changes: Partial<ClaimRequest> = {}) => this.engine.claim(request({ limit, ...changes }))
    return {
      id,
      epoch,
      request,
      claim,
      claimIds: async (limit = 1, changes = {}) => (await claim(limit, changes)).claimed.map((lease) => lease.taskId),
      claimOne: async (changes = {}) => {
        const [lease] = (await claim(1, changes)).claimed
        if (lease === undefined) throw new Error('Nothing could be claimed.')
        return lease
      },
      beat: (changes = {}) => this.engine.beat({ ...IDLE, worker: id, epoch, ...changes }),
    }
  }

  /** Submits one task and claims it at once, by a worker of its own. */
  async running(input: SpecInput): Promise<Claimed> {
    const pool = input.pool ?? DEFAULT_POOL
    await this.submit(input)
    return (await this.worker('w1', { pools: [pool] })).claimOne()
  }

  /** Submits one task and lets its first attempt end as a dead letter. */
  async deadLetter(input: SpecInput, cause: Failure = failure('validation', 'The size is missing.')): Promise<Claimed> {
    const lease = await this.running(input)
    await this.engine.settle([{ kind: 'failed', ref: lease, failure: cause, decision: dead() }])
    return lease
  }

  async status(id: string): Promise<TaskStatus | null> {
    return (await this.engine.task(taskId(id)))?.state.status ?? null
  }

  async task(id: string) {
    const task = await this.engine.task(taskId(id))
    if (task === null) throw new Error(`There is no task '${id}'.`)
    return task
  }

  /** Without the entries about workers that joined: nearly every check has some. */
  async journal(id?: string): Promise<readonly JournalEntry[]> {
    const { entries } = await this.engine.journal.read(id === undefined ? {} : { taskId: taskId(id) })
    return entries.filter(({ type }) => type !== 'worker.joined')
  }

  async journalTypes(id?: string): Promise<readonly string[]> {
    return (await this.journal(id)).map((entry) => entry.type)
  }
}

export const ids = (...names: readonly string[]): TaskId[] => names.map(taskId)
export const pool = poolName

/** The call must be refused with this code. */
export async function expectRefused(call: Promise<unknown>, code: ErrorCode): Promise<void> {
  const outcome = await call.then(
    () => 'it went through',
    (error: unknown) => (isRepriseError(error) ? error.code : error),
  )
  expect(outcome).toBe(code)
}
