// Stale picks on both engines, one round of dispatch at a time: the exact number of re-picks, the reason, the metric, and a
// worker that appears in the middle of the loop (D2–D5).

import { createClient } from '@reprise/client'
import {
  type Clock,
  defineAction,
  type Engine,
  type PoolName,
  PREFERRED_WORKER_LABEL,
  seededRandom,
  silentLogger,
  VirtualClock,
  type WorkerId,
  type WorkerView,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { dispatchOnce, RecentAssignments, registrySnapshot, STALE_WORKER_RETRY_TOTAL } from '@reprise/orchestrator'
import { startRedis } from '@reprise/test-servers'
import { describe, expect, onTestFinished, test } from 'vitest'

const POOL = 'directed' as PoolName
const note = defineAction({ name: 'note', pool: POOL })

const engines: Record<string, (clock: Clock) => Promise<Engine>> = {
  SQLite: (clock) => openSqliteEngine({ path: ':memory:', clock }),
  Redis: async (clock) => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    return openRedisEngine({ url: server.url, clock })
  },
}

async function joined(engine: Engine, id: string, pools: readonly PoolName[] = [POOL]): Promise<number> {
  const registration = { pools, actions: null, host: 'h', version: '1', runtimes: [], endpoint: null }
  return (await engine.register({ worker: id as WorkerId, ...registration })).epoch
}

/** A fleet that fell silent, a task that wants one of it, and a dispatcher whose registry still shows it as it was. */
async function staleFleet(open: (clock: Clock) => Promise<Engine>, names: readonly string[]) {
  const clock = new VirtualClock()
  const engine = await open(clock)
  onTestFinished(() => engine.close())
  for (const name of names) await joined(engine, name)
  clock.jump(30_000)
  const health = { status: 'healthy', reasons: [] } as const
  const shown: readonly WorkerView[] = (await registrySnapshot(engine)).map((view) => ({
    ...view,
    lastBeatAt: clock.now(),
    health,
  }))
  const client = await createClient({ engine, clock })
  onTestFinished(() => client.close())
  const { id } = await client.submit(note, null, { labels: { [PREFERRED_WORKER_LABEL]: 'w2' } })
  const epoch = await joined(engine, 'dispatcher', [])
  const retries: (readonly [string, unknown])[] = []
  const dispatch = (seen: Engine) =>
    dispatchOnce({
      engine: seen,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      meter: { count: (name, labels) => void retries.push([name, labels]), observe: () => undefined },
      worker: 'dispatcher' as WorkerId,
      epoch,
      pools: [POOL],
      limit: 10,
      leaseMs: 15_000,
      inboxTtlMs: 30_000,
      maxDispatchRetries: 3,
      jitterMs: 0,
      backoff: { kind: 'fixed', delayMs: 1_000, jitter: 0 },
      recent: new RecentAssignments(clock),
    })
  return { clock, engine, shown, id, retries, dispatch }
}

describe.each(Object.entries(engines))('on %s', (_, open) => {
  test('D3, D5: three re-picks, then it is put off as stale_worker and charged to nobody', async () => {
    const { clock, engine, shown, id, retries, dispatch } = await staleFleet(open, ['w1', 'w2', 'w3', 'w4', 'w5'])
    let looks = 0
    const lagging: Engine = {
      ...engine,
      workers: async () => {
        looks++
        return { items: shown, next: null }
      },
    }
    const report = await dispatch(lagging)
    expect(report).toMatchObject({ assigned: 0, stale: 4, releasedAs: { stale_worker: 1, no_workers: 0 } })
    expect(looks).toBe(4)
    expect(retries).toEqual(['w2', 'w1', 'w3'].map((worker) => [STALE_WORKER_RETRY_TOTAL, { topic: 'note', worker }]))
    const task = await engine.task(id)
    expect(task).toMatchObject({ attempt: 0, failures: 0, losses: 0, deferrals: 1 })
    expect(task?.state).toMatchObject({ status: 'waiting', reason: 'stale_worker', dueAt: clock.now() + 1_000 })
    // With a registry that tells the truth there are no workers, which is another reason.
    clock.jump(1_000)
    expect((await dispatch(engine)).releasedAs).toEqual({ stale_worker: 0, no_workers: 1 })
    expect((await engine.task(id))?.state).toMatchObject({ status: 'waiting', reason: 'no_workers' })
  })

  test('D5: a worker that appears in the middle of the loop gets it, and collects it', async () => {
    const { engine, shown, id, retries, dispatch } = await staleFleet(open, ['w2'])
    let looks = 0
    let epoch = 0
    const lagging: Engine = {
      ...engine,
      workers: async (page) => {
        looks++
        if (looks === 3) epoch = await joined(engine, 'w9')
        return looks < 3 ? { items: shown, next: null } : engine.workers(page)
      },
    }
    expect(await dispatch(lagging)).toMatchObject({ assigned: 1, stale: 1 })
    expect(retries).toHaveLength(2)
    const worker = 'w9' as WorkerId
    const request = { worker, epoch, pools: [], actions: null, limit: 10, leaseMs: 15_000 }
    expect((await engine.claim(request)).claimed).toMatchObject([{ taskId: id, attempt: 1 }])
  })
})
