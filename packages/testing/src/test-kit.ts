// The test kit: everything a test of an action needs, wired to one virtual clock. A test submits tasks with the client,
// moves time with advance() or runUntilIdle(), and asserts how they ended. Nothing sleeps for real.

import { type Client, createClient } from '@reprise/client'
import {
  type Breaker,
  type BreakerState,
  type Duration,
  durationMs,
  type Engine,
  type Execution,
  type Logger,
  type PolicySource,
  present,
  seededRandom,
  silentLogger,
  taskId,
  type VirtualClock,
} from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { type AnyAction, createWorker, type Worker } from '@reprise/worker'
import {
  type DeadExpectation,
  expectBreaker,
  expectDead,
  expectParked,
  expectSucceeded,
  type ShownTask,
  type TaskRef,
} from './expectations.ts'
import { KitClock } from './kit-clock.ts'
import { advance } from './moments.ts'
import { type IdleOptions, runUntilIdle } from './run-until-idle.ts'

export interface TestKitOptions {
  readonly actions: readonly AnyAction[]
  readonly concurrency?: number
  readonly tenant?: string
  /** Chance (jitter) repeats with the same seed. */
  readonly seed?: number
  /** Where the clock starts, in milliseconds since the epoch. */
  readonly startAt?: number
  /** What to do with failures, beyond what the actions say. */
  readonly policies?: PolicySource
  readonly log?: Logger
}

export interface TestKit {
  readonly clock: VirtualClock
  readonly engine: Engine
  readonly client: Client
  readonly worker: Worker
  /** Moves time forward. Tasks, breakers and timers of the test are met on the way, each at its moment. Days take milliseconds. */
  advance(duration: Duration): Promise<void>
  /** Moves time until every task has ended. Throws, with what is stuck and why, when nothing can change any more. */
  runUntilIdle(options?: IdleOptions): Promise<void>
  /** The result of a task that has succeeded; throws if it has not. */
  expectSucceeded<Result = unknown>(task: TaskRef<Result>): Promise<Result>
  /** The dead letter; throws if the task is not dead, or for another reason. */
  expectDead(task: TaskRef, expected?: DeadExpectation): Promise<ShownTask>
  /** The task, held back by a breaker after an attempt that was not charged; throws if it is anywhere else. */
  expectParked(task: TaskRef): Promise<ShownTask>
  /** The breaker, such as 'dependency:stripe'; throws if it stands otherwise. Null for one that is closed and clean. */
  expectBreaker(name: string, status: BreakerState['status']): Promise<Breaker | null>
  /** Every attempt, oldest first. */
  executionsOf(task: TaskRef): Promise<readonly Execution[]>
  close(): Promise<void>
}

export async function createTestKit(options: TestKitOptions): Promise<TestKit> {
  const clock = new KitClock(options.startAt)
  const { background } = clock
  const engine = await openSqliteEngine({ path: ':memory:', clock: background })
  const { tenant, concurrency, policies } = options
  const client = await createClient({ engine, clock: background, ...present({ tenant }) })
  const worker = await createWorker({
    engine,
    clock: background,
    actions: options.actions,
    id: 'test-worker',
    random: seededRandom(options.seed ?? 1),
    ...present({ concurrency, policies }),
    log: options.log ?? silentLogger,
  })
  return {
    clock,
    engine,
    client,
    worker,
    advance: (duration) => advance({ engine, clock }, durationMs(duration)),
    runUntilIdle: (idle = {}) => runUntilIdle({ engine, clock }, idle),
    expectSucceeded: (task) => expectSucceeded(engine, task),
    expectDead: (task, expected = {}) => expectDead(engine, task, expected),
    expectParked: (task) => expectParked(engine, task),
    expectBreaker: (name, status) => expectBreaker(engine, name, status),
    async executionsOf(task) {
      const { items } = await engine.executions(taskId(typeof task === 'string' ? task : task.id), { limit: 1_000 })
      return items
    },
    async close() {
      await worker.stop({ grace: 0 })
      await client.close()
      await engine.close()
    },
  }
}
