// Waiting for a change, marks that let nothing fall between looking and waiting, and the end of an engine.

import { DEFAULT_POOL, taskId } from '@reprise/core'
import { expect } from 'vitest'
import { BY, expectRefused, failure, ids, retryIn, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const HOUR_MS = 3_600_000
const forPool = (store: Store) => store.engine.wait({ pools: [DEFAULT_POOL] }, HOUR_MS)
const forTask = (store: Store, id: string) => store.engine.wait({ tasks: [taskId(id)] }, HOUR_MS)

// None of these tests moves the clock unless it says so: a waiter that is not woken makes its test time out.
export const waiting = subject('wait', (check) => {
  check('wakes when a task is submitted', async (store) => {
    const woken = forPool(store)
    await store.submit({ id: 'a' })
    await woken
  })

  check('wakes when a task ends', async (store) => {
    const lease = await store.running({ id: 'a' })
    const woken = forTask(store, 'a')
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    await woken
  })

  check('wakes when a task is cancelled', async (store) => {
    await store.submit({ id: 'a' })
    const woken = forTask(store, 'a')
    await store.engine.change({ kind: 'cancel', select: { ids: ids('a') }, by: BY })
    await woken
  })

  check('wakes when work comes back: released, redriven, promoted, resumed', async (store) => {
    await store.deadLetter({ id: 'b' })
    const lease = await store.running({ id: 'a' })
    let woken = forPool(store)
    await store.engine.settle([{ kind: 'released', ref: lease, reason: 'stopping' }])
    await woken
    woken = forPool(store)
    await store.engine.change({ kind: 'redrive', select: { ids: ids('b') }, by: BY })
    await woken
    await store.submit({ id: 'c', delayMs: 1_000 })
    woken = forPool(store)
    await store.engine.change({ kind: 'promote', select: { ids: ids('c') }, by: BY })
    await woken
    await store.engine.pause({}, BY)
    woken = forPool(store)
    await store.engine.resume({}, BY)
    await woken
  })

  check('wakes when something new waits in the delay queue, so that nobody sleeps past it', async (store) => {
    const lease = await store.running({ id: 'a' })
    const woken = forPool(store)
    await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision: retryIn(500) }])
    await woken
  })

  check('wakes when a slot is free again', async (store) => {
    await store.engine.limit({}, 1, BY)
    const lease = await store.running({ id: 'a' })
    await store.submit({ id: 'b' })
    const woken = forPool(store)
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    await woken
  })

  check('a mark taken before looking misses no change', async (store) => {
    const since = store.engine.mark()
    await store.submit({ id: 'a' })
    await store.engine.wait({ pools: [DEFAULT_POOL], since }, HOUR_MS)
    const lease = await (await store.worker()).claimOne()
    const later = store.engine.mark()
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    await store.engine.wait({ tasks: [lease.taskId], since: later }, HOUR_MS)
  })

  check('comes back at the time-out', async (store) => {
    const woken = store.engine.wait({ pools: [DEFAULT_POOL] }, 1_000)
    await store.clock.advance(1_000)
    await woken
  })

  check('comes back when its signal fires, before or during the wait', async (store) => {
    const controller = new AbortController()
    const woken = store.engine.wait({ pools: [DEFAULT_POOL] }, HOUR_MS, controller.signal)
    controller.abort()
    await woken
    await store.engine.wait({ pools: [DEFAULT_POOL] }, HOUR_MS, controller.signal)
  })

  check('many waiters all wake', async (store) => {
    const woken = Promise.all(Array.from({ length: 20 }, () => forPool(store)))
    await store.submit({ id: 'a' })
    await woken
  })

  check('a closed engine refuses everything, and may be closed again', async (store) => {
    await store.submit({ id: 'a' })
    await store.engine.close()
    await expectRefused(store.submit({ id: 'b' }), 'REPRISE_STORE_CLOSED')
    await expectRefused(store.engine.task(taskId('a')), 'REPRISE_STORE_CLOSED')
    await store.engine.close()
  })

  check('closing wakes those who wait', async (store) => {
    const ended = forPool(store).then(
      () => 'ended',
      () => 'ended',
    )
    await store.engine.close()
    expect(await ended).toBe('ended')
  })

  check('says what it is and what it survives', async ({ engine }) => {
    expect(engine.info.kind).not.toBe('')
    expect(engine.info.durability).not.toBe('')
  })
})
