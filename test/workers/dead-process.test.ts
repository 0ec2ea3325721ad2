// A worker process that died, or stands still, renews nothing: no thread of it does either. The first look of a sweep after its
// leases must have ended finds all it had: with leases of 15 s and a look each second, that is within 20 s (fault 1).
// Real processes, on each engine.

import type { Engine } from '@reprise/core'
import { expect, test } from 'vitest'
import { heldAction } from '../outages/product/actions.ts'
import { until } from '../outages/product/product.ts'
import { startWorkerChild } from '../outages/product/worker-child.ts'
import { ENGINES, processStage } from './process-stage.ts'

const LEASE_MS = 2_000
const TASKS = 8
const RUN_MS_MAX = 60_000

interface Look {
  readonly now: number
  readonly found: readonly string[]
}

/** What each look of a sweep finds. */
function watched(engine: Engine, looks: Look[]): Engine {
  return {
    ...engine,
    async expired(limit) {
      const look = await engine.expired(limit)
      looks.push({ now: look.now, found: look.overdue.map(({ ref }) => ref.taskId) })
      return look
    },
  }
}

const CASES = ENGINES.flatMap((engine) => (['SIGKILL', 'SIGSTOP'] as const).map((how) => [engine, how] as const))

test.each(CASES)(
  'fault 1: on %s, all that a process had when it got %s is found by the first look after its leases, and runs again once',
  async (kind, how) => {
    const { address, engine, client, sweep } = await processStage(kind)
    const first = await startWorkerChild(address, `${LEASE_MS}ms`)
    const tasks = await client.submitMany(
      heldAction(async () => undefined),
      Array<null>(TASKS).fill(null),
    )
    await until(() => tasks.every(({ id }) => first.begun.has(id)))
    // Longer than a lease: it lives only because it is renewed.
    const begunAt = await engine.now()
    await until(async () => (await engine.now()) > begunAt + LEASE_MS)
    expect(await engine.expired(100)).toMatchObject({ overdue: [] })

    first.signal(how)
    const deadAt = await engine.now()
    const looks: Look[] = []
    await sweep({ engine: watched(engine, looks), intervalMs: 200 })
    const isOver = ({ now }: Look): boolean => now > deadAt + LEASE_MS
    await until(() => looks.some(isOver))
    const found = looks.slice(0, looks.findIndex(isOver) + 1).flatMap((look) => look.found)
    expect(new Set(found)).toEqual(new Set(tasks.map(({ id }) => id)))

    const second = await startWorkerChild(address)
    second.letGo()
    if (how === 'SIGSTOP') {
      first.signal('SIGCONT')
      first.letGo()
    }
    await Promise.all(tasks.map((task) => task.result({ timeout: '40s' })))
    for (const { id } of tasks) {
      const { items } = await engine.executions(id)
      expect(items.map(({ status }) => status)).toEqual(['lost', 'succeeded'])
    }
  },
  RUN_MS_MAX,
)
