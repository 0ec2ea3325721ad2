// A worker that could not be reached for a while: what was lost meanwhile is no evidence against it.

import { expect } from 'vitest'
import { dead, failure, LEASE_MS, retryIn } from './fixture.ts'
import { subject } from './subject.ts'

export const silence = subject('silence', (check) => {
  check(
    'C5: what was lost while a worker was cut off does not count against it once it is heard again',
    async (store) => {
      const worker = await store.worker('w')
      const others = await store.worker('other')
      await store.submit(...Array.from({ length: 12 }, (_, index) => ({ id: `t${index}` })))
      const { claimed } = await worker.claim(12)
      await worker.beat({ inFlight: 12 })
      store.clock.jump(LEASE_MS + 5_000)
      for (const ref of claimed) {
        await store.engine.settle([{ kind: 'lost', ref, failure: failure('worker_lost'), decision: retryIn(0) }])
      }
      await others.beat()
      expect(await worker.claim(1)).toMatchObject({ claimed: [], heldBack: 'unhealthy' })
      await worker.beat({ inFlight: 12 })
      expect((await store.engine.worker(worker.id))?.consecutiveFailures).toBe(0)
      store.clock.jump(2_000)
      expect(await worker.claim(1)).toMatchObject({ claimed: [{ attempt: 2 }], heldBack: null })
    },
  )

  check('C5: nor if its first word is a claim, which the last worker of a pool may make', async (store) => {
    const worker = await store.worker('w')
    await store.submit(...Array.from({ length: 12 }, (_, index) => ({ id: `t${index}` })))
    const { claimed } = await worker.claim(12)
    await worker.beat({ inFlight: 12 })
    store.clock.jump(LEASE_MS + 5_000)
    for (const ref of claimed) {
      await store.engine.settle([{ kind: 'lost', ref, failure: failure('worker_lost'), decision: retryIn(0) }])
    }
    store.clock.jump(2_000)
    expect(await worker.claim(12)).toMatchObject({ claimed: [{ attempt: 2 }], heldBack: 'degraded' })
    await worker.beat({ inFlight: 1 })
    expect((await store.engine.worker(worker.id))?.consecutiveFailures).toBe(0)
    const { claimed: more, heldBack } = await worker.claim(12)
    expect([more.length, heldBack]).toEqual([11, null])
  })

  check('C5: what a worker failed by itself counts, however seldom it beats', async (store) => {
    const worker = await store.worker('w')
    await (await store.worker('other')).beat()
    await store.submit(...Array.from({ length: 5 }, (_, index) => ({ id: `t${index}` })))
    const { claimed } = await worker.claim(5)
    store.clock.jump(1_000)
    for (const ref of claimed) {
      await store.engine.settle([{ kind: 'failed', ref, failure: failure('connection'), decision: dead() }])
    }
    store.clock.jump(20_000)
    await worker.beat()
    expect((await store.engine.worker(worker.id))?.consecutiveFailures).toBe(5)
  })
})
