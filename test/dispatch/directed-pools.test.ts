// Directed pools end to end, with a real worker and a real dispatcher on each kind of store (D2).

import { createClient } from '@reprise/client'
import {
  type ClaimRequest,
  type Clock,
  defineAction,
  type Engine,
  PREFERRED_WORKER_LABEL,
  seededRandom,
  silentLogger,
  sleep,
  VirtualClock,
} from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { createOrchestrator } from '@reprise/orchestrator'
import { startRedis } from '@reprise/test-servers'
import { createWorker } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'

const POOL = 'directed'

async function openRedis(clock: Clock, partitions: number): Promise<Engine> {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  return openRedisEngine({ url: server.url, clock, partitions })
}

const engines: Record<string, (clock: Clock) => Promise<Engine>> = {
  SQLite: (clock) => openSqliteEngine({ path: ':memory:', clock }),
  Redis: (clock) => openRedis(clock, 1),
  'Redis with 3 partitions': (clock) => openRedis(clock, 3),
}

describe.each(Object.entries(engines))('on %s', (_, open) => {
  test('D2: idle workers are woken by what they are given, and ask for nothing else', async () => {
    // Time stands still: no poll comes, so only a hint can wake anybody.
    const clock = new VirtualClock()
    const engine = await open(clock)
    onTestFinished(() => engine.close())
    const requests: ClaimRequest[] = []
    const noting = async (id: string) => {
      const noted: Engine = {
        ...engine,
        claim: (request) => {
          requests.push(request)
          return engine.claim(request)
        },
        settleAndClaim: (settlements, request) => {
          requests.push(request)
          return engine.settleAndClaim(settlements, request)
        },
      }
      const whoAmI = defineAction({ name: 'who-am-i', pool: POOL, run: () => id })
      const options = { clock, sweep: false, log: silentLogger, concurrency: 2 }
      const worker = await createWorker({ engine: noted, id, actions: [whoAmI], directedPools: [POOL], ...options })
      onTestFinished(() => worker.stop({ grace: 0 }))
    }
    await noting('w1')
    await noting('w2')
    const orchestrator = createOrchestrator({ engine, clock, directedPools: [POOL], log: silentLogger })
    await orchestrator.start()
    onTestFinished(() => orchestrator.stop())
    const client = await createClient({ engine, clock })
    onTestFinished(() => client.close())
    const whoAmI = defineAction({ name: 'who-am-i', pool: POOL, run: (_input: null) => '' })
    const wanted = Array.from({ length: 20 }, (_value, number) => `w${(number % 2) + 1}`)
    const ran: string[] = []
    for (const worker of wanted) {
      const task = await client.submit(whoAmI, null, { labels: { [PREFERRED_WORKER_LABEL]: worker } })
      ran.push(await task.result())
    }
    expect(ran).toEqual(wanted)
    expect(requests.filter(({ pools }) => pools.length > 0)).toEqual([])
    // One to collect it and one to settle it, and each may be followed by one that finds nothing.
    expect(requests.length).toBeLessThanOrEqual(4 * wanted.length + 4)
  })
})

test('D2: among equal workers no inbox fills up while others have room', async () => {
  const clock = new VirtualClock()
  const engine = await openSqliteEngine({ path: ':memory:', clock })
  onTestFinished(() => engine.close())
  const begunAt = new Map<string, number>()
  const slow = defineAction({
    name: 'slow',
    pool: POOL,
    async run(_input: null, { taskId }) {
      begunAt.set(taskId, clock.now())
      await sleep(clock, 9_000)
    },
  })
  const common = { engine, clock, random: seededRandom(1), log: silentLogger, directedPools: [POOL], sweep: false }
  for (const id of ['w1', 'w2', 'w3', 'w4']) {
    const worker = await createWorker({ ...common, id, actions: [slow], concurrency: 5 })
    onTestFinished(() => worker.stop({ grace: 0 }))
  }
  // Three, none of which knows what the others give away.
  for (let number = 0; number < 3; number++) {
    const orchestrator = createOrchestrator(common)
    await orchestrator.start()
    onTestFinished(() => orchestrator.stop())
  }
  const client = await createClient({ engine, clock })
  onTestFinished(() => client.close())
  const submittedAt = new Map<string, number>()
  // Two a second, of 9 s each: 18 of the 20 slots are in use.
  for (let number = 0; number < 240; number++) {
    submittedAt.set((await client.submit(slow, null)).id, clock.now())
    await clock.advance(500)
  }
  await clock.advance(30_000)
  expect(begunAt.size).toBe(240)
  const waits = [...submittedAt].map(([id, at]) => (begunAt.get(id) ?? Number.NaN) - at).toSorted((a, b) => a - b)
  expect(waits[120]).toBe(0)
  // Less than one task takes: nobody came back from an inbox.
  expect(waits.at(-1)).toBeLessThan(9_000)
})
