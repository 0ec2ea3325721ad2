// Conflicts: an id or a dedupe key that comes again with another payload, action or tenant. It is said in what the two differ,
// nothing is accepted, and the first task stays as it was. The same again is a duplicate.

import { actionName, tenantId, workerId } from '@reprise/core'
import { expect } from 'vitest'
import { expectRefused, LEASE_MS, type SpecInput, type Store, taskSpec } from './fixture.ts'
import { subject } from './subject.ts'

const reserve = (store: Store, task: SpecInput, attempt = 1) =>
  store.engine.reserve({
    task: taskSpec(task),
    attempt,
    maxRetries: 3,
    worker: workerId('launcher'),
    leaseMs: LEASE_MS,
  })

const LONG = 'x'.repeat(5_000)

export const conflicts = subject('conflicts', (check) => {
  check('an id with another payload, action or tenant is a conflict that says which', async (store) => {
    const first = { id: 'a', payload: { size: 1 } }
    await store.submit(first)
    const results = await store.submit(
      { ...first, payload: { size: 2 } },
      { ...first, action: actionName('other') },
      { ...first, tenant: tenantId('acme') },
      { id: 'a', payload: null, action: actionName('other'), tenant: tenantId('acme') },
      first,
    )
    expect(results).toEqual([
      { outcome: 'conflict', id: 'a', differs: ['payload'] },
      { outcome: 'conflict', id: 'a', differs: ['action'] },
      { outcome: 'conflict', id: 'a', differs: ['tenant'] },
      { outcome: 'conflict', id: 'a', differs: ['payload', 'action', 'tenant'] },
      { outcome: 'duplicate', id: 'a' },
    ])
    expect(await store.task('a')).toMatchObject({ payload: '{"size":1}', action: 'render', tenant: 'default' })
    expect((await store.engine.counts()).accepted).toBe(1)
  })

  check('a conflict leaves no lane behind', async (store) => {
    await store.submit({ id: 'a' })
    await store.submit({ id: 'a', tenant: tenantId('acme') })
    expect((await store.engine.lanes()).items).toHaveLength(1)
  })

  check('sees conflicts within one batch, and goes on behind them', async (store) => {
    const results = await store.submit(
      { id: 'a', payload: 1 },
      { id: 'a', payload: 2 },
      { id: 'b', payload: 1, dedupeKey: 'k' },
      { id: 'c', payload: 2, dedupeKey: 'k' },
      { id: 'd' },
    )
    expect(results.map(({ outcome, id }) => `${outcome} ${id}`)).toEqual([
      'accepted a',
      'conflict a',
      'accepted b',
      'conflict b',
      'accepted d',
    ])
  })

  check('a key that is held comes with another payload', async (store) => {
    await store.submit({ id: 'a', dedupeKey: 'k', payload: { size: 1 } })
    expect(
      await store.submit(
        { id: 'b', dedupeKey: 'k', payload: { size: 2 } },
        { id: 'b', dedupeKey: 'k', payload: { size: 1 } },
      ),
    ).toEqual([
      { outcome: 'conflict', id: 'a', differs: ['payload'] },
      { outcome: 'duplicate', id: 'a' },
    ])
  })

  check('an id that is taken counts before a key that is held', async (store) => {
    await store.submit({ id: 'a', payload: 1 }, { id: 'b', payload: 2, dedupeKey: 'k' })
    expect(await store.submit({ id: 'a', payload: 2, dedupeKey: 'k' })).toEqual([
      { outcome: 'conflict', id: 'a', differs: ['payload'] },
    ])
    expect(await store.submit({ id: 'a', payload: 1, dedupeKey: 'k' })).toEqual([{ outcome: 'duplicate', id: 'a' }])
  })

  check('tells long payloads apart, and those that begin alike', async (store) => {
    await store.submit({ id: 'a', payload: LONG }, { id: 'b', payload: [1] })
    const results = await store.submit(
      { id: 'a', payload: LONG },
      { id: 'a', payload: `${LONG}x` },
      { id: 'b', payload: [1, 2] },
      { id: 'b', payload: [1] },
    )
    expect(results.map(({ outcome }) => outcome)).toEqual(['duplicate', 'conflict', 'conflict', 'duplicate'])
  })

  check('labels, priority, settings, times, retry token and pool do not make it another task', async (store) => {
    await store.submit({ id: 'a' })
    const again = {
      id: 'a',
      labels: { team: 'blue' },
      priority: 9,
      delayMs: 1_000,
      settings: { timeoutMs: 5 },
    } as const
    expect(await store.submit(again, { id: 'a', dedupeKey: 'k' })).toMatchObject([
      { outcome: 'duplicate' },
      { outcome: 'duplicate' },
    ])
  })

  check('stays a conflict, or a duplicate, when the task has ended', async (store) => {
    const lease = await store.running({ id: 'a', payload: 1 })
    await store.engine.settle([{ kind: 'succeeded', ref: lease, result: null }])
    const results = await store.submit({ id: 'a', payload: 2 }, { id: 'a', payload: 1 })
    expect(results.map(({ outcome }) => outcome)).toEqual(['conflict', 'duplicate'])
  })

  check(
    'a conflict needs no room in the backlog',
    async (store) => {
      await store.submit({ id: 'a', payload: 1 })
      expect((await store.submit({ id: 'a', payload: 2 }))[0]?.outcome).toBe('conflict')
    },
    { maxBacklog: 1 },
  )

  check('a message with the id of another task is refused, and says in what they differ', async (store) => {
    await store.submit({ id: 'a', payload: 1 })
    const other = { id: 'a', payload: 2, tenant: tenantId('acme') }
    await expect(reserve(store, other)).rejects.toMatchObject({
      code: 'REPRISE_CONFLICT',
      differs: ['payload', 'tenant'],
    })
    await expectRefused(reserve(store, other, 100), 'REPRISE_CONFLICT')
    expect(await store.status('a')).toBe('queued')
    expect((await reserve(store, { id: 'a', payload: 1 })).attempt).toBe(1)
  })

  check('so is a message with the key of another task', async (store) => {
    await store.submit({ id: 'a', payload: 1, dedupeKey: 'k' })
    await expect(reserve(store, { id: 'b', payload: 2, dedupeKey: 'k' })).rejects.toMatchObject({
      code: 'REPRISE_CONFLICT',
      differs: ['payload'],
    })
    expect(await store.status('b')).toBe(null)
  })
})
