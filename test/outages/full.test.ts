// Redis is full (fault 12): new tasks are refused whole, with an error that says so; whatever runs is renewed and settled, what
// was accepted before is worked off, workers may join, and once there is room it carries on without a restart.

import { isRepriseError, type TaskId } from '@reprise/core'
import { createWorker } from '@reprise/worker'
import { expect, onTestFinished, test } from 'vitest'
import { quick } from './product/actions.ts'
import { expectToCarryOn, ownServer, startHeld, startProduct, until, unusual } from './product/product.ts'

const LARGE = 'x'.repeat(20_000)

test('fault 12: submissions are refused whole, everything else goes on, and it drains without a restart', async () => {
  const server = await ownServer({ maxmemory: '8mb' })
  const product = await startProduct(server.url, { worker: { lease: '3s', concurrency: 10 } })
  const { client, engine, worker, errors } = product
  const heldTasks = await startHeld(product, 10)

  const waiting: { readonly id: TaskId }[] = []
  let refusal: unknown = null
  while (refusal === null) {
    try {
      waiting.push(...(await client.submitMany('held', Array<string>(10).fill(LARGE))))
    } catch (error) {
      refusal = error
    }
  }
  // It passed the limit by the size of what it was asked last; a hair below it is not full.
  const used = /used_memory:(\d+)/.exec(String(await server.command('INFO', 'memory')))?.[1]
  await server.command('CONFIG', 'SET', 'maxmemory', String(Number(used) - 500_000))
  expect(isRepriseError(refusal, 'REPRISE_STORE_FULL') && refusal.status).toBe(503)
  expect(waiting.length).toBeGreaterThan(50)
  const accepted = waiting.length + heldTasks.length
  expect(await engine.counts()).toMatchObject({ accepted, running: 10, queued: waiting.length })
  await expect(client.submit(quick, 1)).rejects.toMatchObject({ code: 'REPRISE_STORE_FULL' })

  // Leases are renewed: each of them ends later than it would have.
  const untilWhen = async (id: TaskId): Promise<number> => {
    const state = (await engine.task(id))?.state
    return state?.status === 'running' ? state.leaseUntil : 0
  }
  const ends = await Promise.all(heldTasks.map(({ id }) => untilWhen(id)))
  await until(async () => {
    const later = await Promise.all(heldTasks.map(({ id }) => untilWhen(id)))
    return later.every((end, index) => end > (ends[index] ?? 0) + 2_000)
  })

  // A worker that joins now works too, and all that was accepted is worked off.
  const helper = await createWorker({ engine: server.url, actions: [product.held], concurrency: 10 })
  onTestFinished(() => helper.stop({ grace: 0 }))
  product.letGo()
  await until(async () => (await engine.counts()).succeeded === accepted)
  await until(() => worker.stats().succeeded + helper.stats().succeeded === accepted)
  expect(helper.stats().succeeded).toBeGreaterThan(0)
  expect(await unusual(engine)).toEqual([])
  expect(errors).toEqual([])

  // Still full: successes are kept. A retention rule makes room.
  await expect(client.submit(quick, 1)).rejects.toMatchObject({ code: 'REPRISE_STORE_FULL' })
  await engine.retain({ succeededMs: 0 })
  await expectToCarryOn(client)
  expect(await engine.counts()).toMatchObject({ removed: accepted, succeeded: 1 })
})
