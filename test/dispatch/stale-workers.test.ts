// Scenario *stale*: workers of a directed pool go silent, and the dispatcher's picture of them lags behind. Exactly three
// re-picks, reason and metric; success when a worker appears during the loop; and how long the stale window is, measured,
// for the settings that it is tuned by (D1–D5).

import { createClient } from '@reprise/client'
import {
  defineAction,
  type Engine,
  PREFERRED_WORKER_LABEL,
  StoreClosedError,
  seededRandom,
  silentLogger,
  type TaskId,
  VirtualClock,
  type WorkerView,
} from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import {
  createOrchestrator,
  type Meter,
  type OrchestratorOptions,
  registrySnapshot,
  STALE_WORKER_RETRY_TOTAL,
} from '@reprise/orchestrator'
import { createWorker, type Worker } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'

const POOL = 'directed'
const BACKOFF = { kind: 'exponential', baseMs: 1_000, multiplier: 2, maxMs: 30_000, jitter: 0 } as const

interface Ran {
  readonly task: TaskId
  readonly worker: string
  readonly at: number
}

async function scenario(over: Partial<OrchestratorOptions> = {}) {
  const clock = new VirtualClock()
  const engine = await openSqliteEngine({ path: ':memory:', clock })
  onTestFinished(() => engine.close())
  const registry = laggingRegistry(engine)
  const ran: Ran[] = []
  const retries: Record<string, string>[] = []
  const meter: Meter = {
    count: (name, labels) => void (name === STALE_WORKER_RETRY_TOTAL && retries.push(labels)),
    observe: () => undefined,
  }
  const actionOn = (worker: string) =>
    defineAction({
      name: 'note',
      pool: POOL,
      run: (_input: unknown, { taskId }) => void ran.push({ task: taskId, worker, at: clock.now() }),
    })
  const orchestrator = createOrchestrator({
    engine: registry.engine,
    clock,
    meter,
    random: seededRandom(1),
    directedPools: [POOL],
    ...over,
    dispatch: { backoff: BACKOFF, ...over.dispatch },
  })
  await orchestrator.start()
  onTestFinished(() => orchestrator.stop())
  const client = await createClient({ engine, clock })
  return {
    clock,
    engine,
    registry,
    ran,
    retries,
    submit: (preferred?: string) =>
      client.submit(
        actionOn(''),
        null,
        preferred === undefined ? {} : { labels: { [PREFERRED_WORKER_LABEL]: preferred } },
      ),
    worker: async (id: string): Promise<Mortal> => {
      const mortal = mortalEngine(engine)
      const worker = await createWorker({
        engine: mortal.engine,
        id,
        clock,
        actions: [actionOn(id)],
        directedPools: [POOL],
        random: seededRandom(2),
        sweep: false,
        log: silentLogger,
      })
      onTestFinished(() => {
        mortal.bury()
        return worker.stop({ grace: 0 })
      })
      return { worker, die: mortal.die }
    },
  }
}

interface Mortal {
  readonly worker: Worker
  /** From now on nothing of it reaches the store, as after SIGKILL. */
  readonly die: () => void
}

/** A worker's way to the store, which can be cut for good. */
function mortalEngine(engine: Engine) {
  let isDead = false
  const silence = Promise.withResolvers<never>()
  silence.promise.catch(() => undefined)
  return {
    engine: new Proxy(engine, {
      get(target, name: keyof Engine) {
        const member = target[name]
        if (typeof member !== 'function' || name === 'mark') return member
        return (...input: never[]): unknown =>
          isDead ? silence.promise : (member as (...input: never[]) => unknown).apply(target, input)
      },
    }),
    die: () => {
      isDead = true
    },
    /** At the end of the test, so that nothing waits for an answer any more. */
    bury: () => silence.reject(new StoreClosedError()),
  }
}

/** The registry as a dispatcher sees it: it may lag behind. */
function laggingRegistry(engine: Engine) {
  let shown: readonly WorkerView[] | null = null
  let looks = 0
  return {
    engine: {
      ...engine,
      workers: async (page) => {
        looks++
        return shown === null ? engine.workers(page) : { items: shown, next: null }
      },
    } satisfies Engine,
    looks: () => looks,
    /** From now on it shows the workers of now, as if they had just been heard of. */
    async freeze(now: number): Promise<void> {
      const health = { status: 'healthy', reasons: [] } as const
      shown = (await registrySnapshot(engine)).map((view) => ({ ...view, lastBeatAt: now, health }))
    },
    thaw(): void {
      shown = null
    },
  }
}

test('directed tasks run where they are wanted, while all is well', async () => {
  const { clock, ran, retries, submit, worker } = await scenario()
  await worker('w1')
  await worker('w2')
  for (let number = 0; number < 10; number++) await submit(number % 2 === 0 ? 'w1' : 'w2')
  await clock.advance(2_000)
  expect(ran.filter(({ worker: by }) => by === 'w1')).toHaveLength(5)
  expect(ran.filter(({ worker: by }) => by === 'w2')).toHaveLength(5)
  expect(retries).toEqual([])
})

test('D3, D5: exactly 3 re-picks, then stale_worker and the outer backoff; it runs when a worker is back', async () => {
  const { clock, engine, registry, ran, retries, submit, worker } = await scenario()
  const fleet = [await worker('w1'), await worker('w2'), await worker('w3'), await worker('w4'), await worker('w5')]
  for (const { die } of fleet) die()
  await clock.advance(31_000)
  await registry.freeze(clock.now())
  const looksBefore = registry.looks()
  const { id } = await submit('w3')
  await clock.advance(10)
  // The first pick and three re-picks, each from a snapshot of its own.
  expect(registry.looks() - looksBefore).toBe(4)
  // D4: topic and worker.
  expect(retries).toEqual(['w3', 'w1', 'w2'].map((stale) => ({ topic: 'note', worker: stale })))
  const task = await engine.task(id)
  expect(task).toMatchObject({ attempt: 0, failures: 0, losses: 0, deferrals: 1 })
  expect(task?.state).toMatchObject({ status: 'waiting', reason: 'stale_worker' })
  // Once the registry has caught up it is another matter: there are no workers, and nothing to retry.
  registry.thaw()
  await clock.advance(1_500)
  expect((await engine.task(id))?.state).toMatchObject({ status: 'waiting', reason: 'no_workers' })
  expect(retries).toHaveLength(3)
  await worker('w6')
  await clock.advance(4_000)
  expect(ran).toMatchObject([{ task: id, worker: 'w6' }])
})

test('D5: a fresh worker that appears during the loop gets the task', async () => {
  const { clock, engine, registry, ran, retries, submit, worker } = await scenario({
    // Each re-pick a little later.
    dispatch: { repickJitterMs: 400 },
  })
  const { die } = await worker('w1')
  die()
  await clock.advance(31_000)
  await registry.freeze(clock.now())
  const { id } = await submit('w1')
  await clock.advance(1)
  expect(retries).toHaveLength(1)
  expect((await engine.task(id))?.state).toMatchObject({ status: 'running', stage: 'dispatch' })
  registry.thaw()
  await worker('w2')
  await clock.advance(1_000)
  expect(ran).toMatchObject([{ task: id, worker: 'w2' }])
  expect(retries.length).toBeLessThanOrEqual(3)
  expect((await engine.task(id))?.deferrals).toBe(0)
})

describe('D1, D4: the stale window, measured', () => {
  /** A worker that all tasks want dies; one task a second. What that costs, in seconds. */
  async function measured(inboxTtlMs: number) {
    const { clock, engine, ran, submit, worker } = await scenario({ dispatch: { inboxTtlMs } })
    const { die } = await worker('w1')
    await worker('w2')
    const submittedAt = new Map<string, number>()
    let diedAt = 0
    let lastToDead = 0
    for (let second = 0; second < 90; second++) {
      if (second === 20) {
        die()
        diedAt = clock.now()
      }
      const { id } = await submit('w1')
      submittedAt.set(id, clock.now())
      await clock.advance(500)
      const { state } = (await engine.task(id)) ?? {}
      if (diedAt > 0 && state?.status === 'running' && state.worker === 'w1') lastToDead = clock.now()
      await clock.advance(500)
    }
    await clock.advance(60_000)
    const delays = ran.map(({ task, at }) => (at - (submittedAt.get(task) ?? 0)) / 1_000)
    return { ran, windowS: (lastToDead - diedAt) / 1_000, delayMaxS: Math.max(...delays) }
  }

  test.each([
    // Nothing is noticed before the liveness TTL: then the whole inbox comes back at once.
    { inboxTtlMs: 30_000, delayMaxS: 32 },
    // Each task is tried elsewhere after its own time in the inbox.
    { inboxTtlMs: 5_000, delayMaxS: 7 },
  ])(
    'inbox TTL $inboxTtlMs ms: a task waits $delayMaxS s at the most, and none is lost or runs twice',
    async (settings) => {
      const { ran, windowS, delayMaxS } = await measured(settings.inboxTtlMs)
      expect(ran).toHaveLength(90)
      expect(new Set(ran.map(({ task }) => task)).size).toBe(90)
      // From the last heartbeat on 30 s, and a beat comes every 5 s.
      expect(windowS).toBeGreaterThan(24)
      expect(windowS).toBeLessThanOrEqual(30)
      expect(delayMaxS).toBeGreaterThan(settings.inboxTtlMs / 1_000 - 5)
      expect(delayMaxS).toBeLessThanOrEqual(settings.delayMaxS)
    },
  )
})
