// Queries: filters, orders, and pages whose cursors stay right while tasks come and change.

import {
  actionName,
  BATCH_MAX,
  decodeJson,
  encodeJson,
  LEFT_OUT,
  latestForTask,
  type TaskQuery,
  taskId,
  tenantId,
} from '@reprise/core'
import { LIGHT_BYTES_MAX, PAGE_BYTES_MAX } from '@reprise/core/engine'
import { expect } from 'vitest'
import { BY, dead, expectRefused, failure, ids, pool, retryIn, type Store } from './fixture.ts'
import { subject } from './subject.ts'

const acme = tenantId('acme')
const find = async (store: Store, query: TaskQuery) => (await store.engine.tasks(query)).items.map(({ id }) => id)

export const looking = subject('queries', (check) => {
  check('an unknown task is null everywhere', async ({ engine }) => {
    const nobody = taskId('nobody')
    expect(await engine.task(nobody)).toBe(null)
    expect(await engine.execution(nobody, 1)).toBe(null)
    expect(await latestForTask(engine, nobody)).toBe(null)
    expect(await engine.executions(nobody)).toEqual({ items: [], next: null })
  })

  check("tells the store's time", async ({ engine, clock }) => {
    const before = await engine.now()
    await clock.advance(1_234)
    expect(await engine.now()).toBe(before + 1_234)
  })

  check('B1: tells what judging failures takes, of many tasks at once and without their payloads', async (store) => {
    const labels = { size: 'xl' }
    await store.submit({ id: 'a', tenant: acme, labels, payload: { large: 'x'.repeat(10_000) } }, { id: 'b' })
    const worker = await store.worker()
    const leases = (await worker.claim(2)).claimed
    for (const ref of leases) {
      await store.engine.settle([{ kind: 'failed', ref, failure: failure(), decision: retryIn(0) }])
    }
    const { standings, now } = await store.engine.standings(ids('b', 'nobody', 'a', 'b'))
    expect(now).toBe(await store.engine.now())
    const expected = async (id: string) => {
      const { payload: _, state: _state, attempt: _attempt, lastWorker: _worker, ...known } = await store.task(id)
      const { acceptedAt, generation, failures, losses, parks, deferrals, ...snapshot } = known
      return { snapshot, acceptedAt, generation, failures, losses, parks, deferrals }
    }
    expect(standings).toEqual([await expected('b'), null, await expected('a'), await expected('b')])
    expect(standings[2]).toMatchObject({ snapshot: { tenant: 'acme', labels }, failures: 1 })
    expect((await store.engine.standings([])).standings).toEqual([])
    const tooMany = Array.from({ length: BATCH_MAX + 1 }, (_, index) => taskId(`t${index}`))
    await expectRefused(store.engine.standings(tooMany), 'REPRISE_INVALID')
  })

  check('tells the status of many tasks at once, whatever it is', async (store) => {
    const { engine } = store
    const waits = { id: 'waiting', delayMs: 60_000 }
    await store.submit(
      { id: 'succeeded' },
      { id: 'running' },
      { id: 'dead' },
      { id: 'again' },
      { id: 'discarded' },
      waits,
    )
    const worker = await store.worker()
    for (const ref of (await worker.claim(5)).claimed) {
      if (ref.taskId === 'succeeded') await engine.settle([{ kind: 'succeeded', ref, result: null }])
      else if (ref.taskId === 'again')
        await engine.settle([{ kind: 'failed', ref, failure: failure(), decision: retryIn(60_000) }])
      else if (ref.taskId !== 'running')
        await engine.settle([{ kind: 'failed', ref, failure: failure(), decision: dead() }])
    }
    await engine.change({ kind: 'discard', select: { ids: ids('discarded') }, by: BY })
    await store.submit({ id: 'queued' }, { id: 'cancelled' })
    await engine.change({ kind: 'cancel', select: { ids: ids('cancelled') }, by: BY })
    const statuses = ['discarded', 'queued', 'running', 'succeeded', 'dead', 'cancelled', 'waiting'] as const
    expect(await engine.statuses(ids(...statuses, 'nobody', 'again', 'dead'))).toEqual([
      ...statuses,
      null,
      'waiting',
      'dead',
    ])
    expect(await engine.statuses([])).toEqual([])
    const tooMany = Array.from({ length: BATCH_MAX + 1 }, (_, index) => taskId(`t${index}`))
    await expectRefused(engine.statuses(tooMany), 'REPRISE_INVALID')
  })

  check('a light look leaves long payloads and results out, and nothing else', async (store) => {
    const long = 'x'.repeat(8 * LIGHT_BYTES_MAX)
    const short = 'y'.repeat(100)
    await store.submit({ id: 'a', payload: long, labels: { size: 'xl' } }, { id: 'b', payload: short })
    const worker = await store.worker()
    for (const ref of (await worker.claim(2)).claimed) {
      const result = encodeJson(ref.taskId === 'a' ? long : short, 'result')
      await store.engine.settle([{ kind: 'succeeded', ref, result }])
    }
    const [a, b] = [await store.task('a'), await store.task('b')]
    const light = { ...a, payload: LEFT_OUT, state: { ...a.state, result: LEFT_OUT } }
    expect(await store.engine.task(a.id, { light: true })).toEqual(light)
    expect(await store.engine.task(b.id, { light: true })).toEqual(b)
    const { items } = await store.engine.tasks({ light: true })
    expect(items.toSorted((one, other) => one.id.localeCompare(other.id))).toEqual([light, b])
    expect(decodeJson(a.payload)).toBe(long)
  })

  check('a page of tasks is bounded by its bytes, and goes on behind what fits', async (store) => {
    const size = 1_000_000
    const names = Array.from({ length: 12 }, (_, index) => `t${index}`)
    for (const id of names) await store.submit({ id, payload: 'x'.repeat(size) })
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const { items, next } = await store.engine.tasks(cursor === null ? {} : { cursor })
      expect(items.length * size).toBeLessThan(2 * PAGE_BYTES_MAX + size)
      seen.push(...items.map(({ id }) => id))
      cursor = next
    } while (cursor !== null)
    expect(seen.toSorted()).toEqual(names.toSorted())
    expect((await store.engine.tasks({ light: true })).items).toHaveLength(names.length)
  })

  check(
    'lists tasks, newest first',
    async (store) => {
      await store.submit({ id: 'a' }, { id: 'b' })
      await store.submit({ id: 'c' })
      expect(await find(store, {})).toEqual(['c', 'b', 'a'])
    },
    { ordered: true },
  )

  check('filters by pool, action, tenant and status', async (store) => {
    await store.submit(
      { id: 'a', pool: pool('gpu') },
      { id: 'b', action: actionName('mail') },
      { id: 'c', tenant: acme, delayMs: 1 },
    )
    expect(await find(store, { pool: pool('gpu') })).toEqual(['a'])
    expect(await find(store, { action: actionName('mail') })).toEqual(['b'])
    expect(await find(store, { tenant: acme })).toEqual(['c'])
    expect((await find(store, { status: 'queued' })).toSorted()).toEqual(['a', 'b'])
    expect(await find(store, { status: 'waiting', tenant: acme })).toEqual(['c'])
    expect(await find(store, { status: 'queued', tenant: acme })).toEqual([])
  })

  check('finds the dead letters of a failure group', async (store) => {
    const cause = failure('permission', 'No access.')
    await store.deadLetter({ id: 'a' }, cause)
    await store.deadLetter({ id: 'b' })
    await store.deadLetter({ id: 'c' }, cause)
    expect(await find(store, { fingerprint: cause.fingerprint })).toEqual(['c', 'a'])
    await store.engine.change({ kind: 'redrive', select: { ids: ids('c') }, by: BY })
    expect(await find(store, { fingerprint: cause.fingerprint })).toEqual(['a'])
  })

  check(
    'pages stay right while new tasks come',
    async (store) => {
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' })
      const first = await store.engine.tasks({ limit: 2 })
      expect(first.items.map(({ id }) => id)).toEqual(['c', 'b'])
      await store.submit({ id: 'd' })
      const second = await store.engine.tasks({ limit: 2, cursor: first.next ?? '' })
      expect(second.items.map(({ id }) => id)).toEqual(['a'])
      expect(second.next).toBe(null)
    },
    { ordered: true },
  )

  check(
    'pages stay right while tasks leave the filter',
    async (store) => {
      await store.submit({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' })
      const first = await store.engine.tasks({ status: 'queued', limit: 2 })
      expect(first.items.map(({ id }) => id)).toEqual(['d', 'c'])
      await store.engine.change({ kind: 'cancel', select: { ids: ids('c', 'd') }, by: BY })
      const second = await store.engine.tasks({ status: 'queued', limit: 2, cursor: first.next ?? '' })
      expect(second.items.map(({ id }) => id)).toEqual(['b', 'a'])
    },
    { ordered: true },
  )

  check(
    'every task is on exactly one page',
    async (store) => {
      await store.submit(...Array.from({ length: 25 }, (_, index) => ({ id: `t${index}` })))
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await store.engine.tasks({ limit: 10, ...(cursor === '' ? {} : { cursor }) })
        seen.push(...page.items.map(({ id }) => id))
        cursor = page.next
      }
      expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `t${24 - index}`))
    },
    { ordered: true },
  )

  check('refuses page sizes out of range, and cursors it never gave out', async ({ engine }) => {
    for (const limit of [0, -1, 1.5, 1_001]) await expectRefused(engine.tasks({ limit }), 'REPRISE_INVALID')
    for (const cursor of ['', 'nonsense', '-1']) await expectRefused(engine.tasks({ cursor }), 'REPRISE_INVALID')
  })

  check('A5: lists executions by attempt, and gives the latest', async (store) => {
    await store.submit({ id: 'a' })
    const worker = await store.worker()
    for (let round = 0; round < 3; round++) {
      const lease = await worker.claimOne()
      const decision = round === 2 ? dead('retries_exhausted') : retryIn(0)
      await store.engine.settle([{ kind: 'failed', ref: lease, failure: failure(), decision }])
    }
    const attempts = async (page = {}) =>
      (await store.engine.executions(taskId('a'), page)).items.map(({ attempt }) => attempt)
    expect(await attempts()).toEqual([1, 2, 3])
    const first = await store.engine.executions(taskId('a'), { limit: 2 })
    expect(first.items.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(await attempts({ limit: 2, cursor: first.next })).toEqual([3])
    expect(await latestForTask(store.engine, taskId('a'))).toMatchObject({ attempt: 3, status: 'failed' })
  })

  check('A5: the latest of ten attempts is the tenth', async (store) => {
    await store.submit({ id: 'a' })
    const worker = await store.worker('w1')
    for (let round = 0; round < 10; round++) {
      const lease = await worker.claimOne()
      await store.engine.settle([
        { kind: 'failed', ref: lease, failure: failure('rate_limited'), decision: retryIn(0) },
      ])
    }
    expect((await latestForTask(store.engine, taskId('a')))?.attempt).toBe(10)
  })

  check(
    'lists lanes by creation, page by page',
    async (store) => {
      await store.submit({ id: 'a', tenant: acme }, { id: 'b' }, { id: 'c', pool: pool('gpu') })
      const first = await store.engine.lanes({ limit: 2 })
      expect(first.items.map(({ tenant, pool: lanePool }) => [tenant, lanePool])).toEqual([
        ['acme', 'default'],
        ['default', 'default'],
      ])
      const second = await store.engine.lanes({ limit: 2, cursor: first.next ?? '' })
      expect(second.items.map(({ pool: lanePool }) => lanePool)).toEqual(['gpu'])
    },
    { ordered: true },
  )
})
