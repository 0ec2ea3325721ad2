// Holds on lanes: what is paused is not given out, present lanes and future ones alike, until exactly that hold is lifted.

import { DEFAULT_POOL, tenantId } from '@reprise/core'
import { expect } from 'vitest'
import { ACTION, BY, pool, START } from './fixture.ts'
import { subject } from './subject.ts'

const acme = tenantId('acme')

export const pausing = subject('pause', (check) => {
  check('a paused lane gives nothing until it is resumed', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a', tenant: acme }, { id: 'b' })
    await store.engine.pause({ tenant: acme }, BY)
    expect(await worker.claimIds(5)).toEqual(['b'])
    expect(await store.engine.resume({ tenant: acme }, BY)).toBe(true)
    expect(await worker.claimIds(5)).toEqual(['a'])
  })

  check('a hold covers lanes that come later', async (store) => {
    await store.engine.pause({ pool: DEFAULT_POOL }, BY)
    await store.submit({ id: 'a' }, { id: 'b', pool: pool('gpu') })
    const worker = await store.worker('w1', { pools: [DEFAULT_POOL, pool('gpu')] })
    expect(await worker.claimIds(5)).toEqual(['b'])
  })

  check('an empty scope covers everything', async (store) => {
    await store.submit({ id: 'a' }, { id: 'b', tenant: acme })
    await store.engine.pause({}, BY)
    expect(await (await store.worker()).claimIds(5)).toEqual([])
  })

  check('a lane is held while any hold matches it', async (store) => {
    const worker = await store.worker()
    await store.submit({ id: 'a' })
    await store.engine.pause({ action: ACTION }, BY)
    await store.engine.pause({ pool: DEFAULT_POOL }, BY)
    await store.engine.resume({ action: ACTION }, BY)
    expect(await worker.claimIds()).toEqual([])
    await store.engine.resume({ pool: DEFAULT_POOL }, BY)
    expect(await worker.claimIds()).toEqual(['a'])
  })

  check('only exactly the paused scope can be resumed', async (store) => {
    await store.submit({ id: 'a' })
    await store.engine.pause({ pool: DEFAULT_POOL }, BY)
    expect(await store.engine.resume({}, BY)).toBe(false)
    expect(await store.engine.resume({ pool: DEFAULT_POOL, action: ACTION }, BY)).toBe(false)
    expect(await (await store.worker()).claimIds()).toEqual([])
    expect(await store.engine.resume({ pool: DEFAULT_POOL }, BY)).toBe(true)
    expect(await store.engine.resume({ pool: DEFAULT_POOL }, BY)).toBe(false)
  })

  check('pausing twice keeps the time and takes the newer reason; one resume lifts it', async (store) => {
    await store.submit({ id: 'a' })
    await store.engine.pause({}, BY)
    store.clock.jump(1_000)
    await store.engine.pause({}, { actor: 'operator:bob', reason: 'still broken' })
    expect((await store.engine.lanes()).items[0]?.gates).toEqual([
      {
        kind: 'paused',
        scope: {},
        by: { actor: 'operator:bob', reason: 'still broken' },
        since: START,
        rank: 'platform',
      },
    ])
    expect(await store.engine.resume({}, BY)).toBe(true)
    expect(await (await store.worker()).claimIds()).toEqual(['a'])
  })

  check('shows several holds by scope, the wider first', async (store) => {
    await store.submit({ id: 'a' })
    for (const scope of [{ pool: DEFAULT_POOL, action: ACTION }, {}, { pool: DEFAULT_POOL }])
      await store.engine.pause(scope, BY)
    expect((await store.engine.lanes()).items[0]?.gates).toMatchObject([
      { scope: {} },
      { scope: { pool: 'default' } },
      { scope: { pool: 'default', action: 'render' } },
    ])
  })

  check('lists every hold and limit, also where no lane is', async (store) => {
    const by = { actor: BY.actor, reason: BY.reason }
    await store.engine.pause({ action: ACTION, tenant: acme }, BY)
    store.clock.jump(1_000)
    await store.engine.pause({ action: ACTION }, BY)
    await store.engine.limit({ action: ACTION }, 0, BY)
    await store.engine.limit({ tenant: acme }, 7, { ...by, rank: 'tenant' })
    expect((await store.engine.lanes()).items).toEqual([])
    const mine = { kind: 'paused', scope: { action: 'render', tenant: 'acme' }, by, since: START, rank: 'platform' }
    const whole = { kind: 'paused', scope: { action: 'render' }, by, since: START + 1_000, rank: 'platform' }
    const none = { kind: 'concurrency', scope: { action: 'render' }, running: 0, concurrency: 0, rank: 'platform' }
    const seven = { kind: 'concurrency', scope: { tenant: 'acme' }, running: 0, concurrency: 7, rank: 'tenant' }
    expect(await store.engine.holds()).toEqual({ items: [seven, whole, none, mine], next: null })
    expect((await store.engine.holds({ tenants: [acme] })).items).toEqual([seven, mine])
    const first = await store.engine.holds({ limit: 2 })
    expect(first.items).toEqual([seven, whole])
    expect(await store.engine.holds({ limit: 2, cursor: first.next ?? '' })).toEqual({
      items: [none, mine],
      next: null,
    })
    await store.engine.resume({ action: ACTION }, BY)
    await store.engine.limit({ action: ACTION }, null, BY)
    expect((await store.engine.holds()).items).toEqual([seven, mine])
  })

  check('what runs goes on, and retries come due but stay in the lane', async (store) => {
    const lease = await store.running({ id: 'a' })
    await store.submit({ id: 'b', delayMs: 1_000 })
    await store.engine.pause({}, BY)
    store.clock.jump(1_000)
    expect(await (await store.worker('w2')).claimIds(5)).toEqual([])
    expect(await store.status('b')).toBe('queued')
    expect(await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])).toMatchObject([
      { outcome: 'settled' },
    ])
  })

  check('pauses, resumes and limits are journalled with their scope', async (store) => {
    await store.engine.pause({ pool: DEFAULT_POOL, tenant: acme }, BY)
    await store.engine.resume({ pool: DEFAULT_POOL, tenant: acme }, BY)
    await store.engine.limit({ action: ACTION }, 3, BY)
    await store.engine.limit({}, null, BY)
    const common = { taskId: null, attempt: null, actor: 'operator:ann', reason: 'a test' }
    expect(await store.journal()).toMatchObject([
      { ...common, type: 'lanes.paused', data: { pool: 'default', tenant: 'acme' } },
      { ...common, type: 'lanes.resumed', data: { pool: 'default', tenant: 'acme' } },
      { ...common, type: 'lanes.limited', data: { action: 'render', concurrency: 3 } },
      { ...common, type: 'lanes.limited', data: { concurrency: null } },
    ])
  })
})
