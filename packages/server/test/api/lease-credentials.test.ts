// What workers hold is a credential that nobody can guess; and what is wrong with one entry of a batch concerns no other.

import { type Engine, latestForTask, type TaskId, taskId } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { type Api, claimOne, declare, type Lease, SQLITE, STORES, startApi } from './fixture.ts'

const complete = (api: Api, { taskId: id, attempt, token }: Omit<Lease, 'snapshot'>) =>
  api.post('/task-complete', { taskId: id, attempt, token, status: 'succeeded' }, { token: null })
const payload = (api: Api, { taskId: id, attempt, token }: Omit<Lease, 'snapshot'>) =>
  api.get(`/task-payload/${id}/${attempt}`, { token })

/** The token that the store has for it. */
async function storedToken(api: Api, id: string): Promise<string> {
  const execution = await latestForTask(api.engine, taskId(id))
  if (execution === null) throw new Error('It was never claimed.')
  return execution.token
}

describe.each(STORES)('on $name', (store) => {
  test('intruder 7: whoever knows the token in the store can neither read nor end the attempt', async () => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'a', payload: { card: '4111' } })
    const lease = await claimOne(api)
    const bare = { ...lease, token: await storedToken(api, 't1') }
    expect(lease.token).toMatch(/\.[\w-]{22}$/)
    expect((await payload(api, bare)).status).toBe(403)
    expect((await complete(api, bare)).status).toBe(403)
    const { token } = bare
    const one = { taskId: 't1', attempt: 1, token }
    const asWorker = { token: api.tokens.worker }
    const unknown = { results: [{ outcome: 'superseded', because: 'unknown' }] }
    expect((await api.post('/api/v1/leases/renew', { leases: [one] }, asWorker)).body).toEqual(unknown)
    const settlements = [{ ...one, outcome: 'succeeded' }]
    expect((await api.post('/api/v1/settlements', { settlements }, asWorker)).body).toEqual(unknown)
    expect((await payload(api, lease)).body).toMatchObject({ payload: { card: '4111' } })
    expect((await complete(api, lease)).body).toMatchObject({ outcome: 'settled', repeated: false })
    expect((await complete(api, lease)).body).toMatchObject({ outcome: 'settled', repeated: true })
  })

  test('A16: a lease that was given back is superseded, also when the same attempt was claimed again', async () => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    const first = await claimOne(api)
    const { taskId: id, attempt, token } = first
    const settlements = [{ taskId: id, attempt, token, outcome: 'released' }]
    await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    const second = await claimOne(api, 'w2')
    expect(second.attempt).toBe(first.attempt)
    expect((await complete(api, first)).body).toMatchObject({ status: 409, code: 'REPRISE_SUPERSEDED' })
    expect((await payload(api, first)).status).toBe(404)
    expect((await complete(api, second)).status).toBe(200)
  })

  test('A11: the worker of attempt 1 gets no payload while attempt 2 runs, by its own lease or by another number', async () => {
    const api = await startApi(store)
    await declare(api, { name: 'a', retry: { max: 3 } })
    await api.post('/api/v1/tasks', { id: 't1', action: 'a', payload: { card: '4111' } })
    const first = await claimOne(api)
    const { taskId: id, attempt, token } = first
    const settlements = [{ taskId: id, attempt, token, outcome: 'failed', error: { message: 'x', retryable: true } }]
    await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    await api.engine.change({
      kind: 'promote',
      select: { ids: [taskId('t1')] },
      by: { actor: 'operator:ann', reason: 'now' },
    })
    const second = await claimOne(api, 'w2')
    expect(second.attempt).toBe(2)
    const late = await payload(api, first)
    expect([late.status, late.text.includes('4111')]).toEqual([404, false])
    const forged = await payload(api, { ...first, attempt: second.attempt })
    expect([forged.status, forged.text.includes('4111')]).toEqual([403, false])
    expect((await payload(api, second)).body).toMatchObject({ attempt: 2, payload: { card: '4111' } })
    await complete(api, second)
    expect((await payload(api, second)).status).toBe(404)
  })

  test('intruder 7: a key is rotated while leases are out, and both keys are read', async () => {
    const api = await startApi(store)
    for (const id of ['before', 'after']) await api.post('/api/v1/tasks', { id, action: 'a' })
    const before = await claimOne(api)
    const rotated = await api.post('/api/v1/keys/lease-credentials/rotate', { reason: 'once a year' })
    expect([rotated.status, rotated.body]).toMatchObject([200, { items: [{ id: '1' }, { id: '2', until: null }] }])
    expect(rotated.text).not.toContain('secret')
    expect((await api.get('/api/v1/keys')).body).toMatchObject({ items: [{ id: '1' }, { id: '2' }, { ring: 'seals' }] })
    const after = await claimOne(api, 'w2')
    for (const lease of [before, after]) expect((await complete(api, lease)).status).toBe(200)
    const { entries } = await api.engine.journal.read({ limit: 100 })
    expect(entries.map(({ reason }) => reason)).toContain('A new key was made for lease-credentials: once a year')
  })

  test('A16: a worker whose id is as long as can be settles and reads like any other', async () => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    const lease = await claimOne(api, 'w'.repeat(200))
    expect((await payload(api, lease)).status).toBe(200)
    expect((await complete(api, lease)).status).toBe(200)
  })

  test('fault 17: a settlement that can not be taken is refused alone', async () => {
    const api = await startApi(store)
    await declare(api, { name: 'a', retry: { max: 3 } })
    const leases: Lease[] = []
    for (const id of ['good', 'gone', 'large']) {
      await api.post('/api/v1/tasks', { id, action: 'a' })
      leases.push(await claimOne(api, `w-${id}`))
    }
    const [good, gone, large] = leases.map(({ taskId: id, attempt, token }) => ({ taskId: id, attempt, token }))
    const settlements = [
      { ...gone, taskId: 'nobody', outcome: 'failed', error: { message: 'x' } },
      { ...large, outcome: 'succeeded', result: 'x'.repeat(1_100_000) },
      { ...good, outcome: 'succeeded', result: 1 },
      { ...gone, outcome: 'failed', error: { message: 'x', retryable: true } },
    ]
    const settled = await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    expect([settled.status, settled.body]).toMatchObject([
      200,
      {
        results: [
          { outcome: 'superseded', because: 'unknown' },
          { outcome: 'refused', code: 'REPRISE_TOO_LARGE' },
          { outcome: 'settled', status: 'succeeded' },
          { outcome: 'settled', status: 'waiting' },
        ],
      },
    ])
    expect((await api.engine.task('large' as TaskId))?.state.status).toBe('running')
  })
})

test('fault 17: a failure of a task that is gone meanwhile is superseded, in a batch and alone', async () => {
  const inner = await SQLITE.open()
  const engine: Engine = {
    ...inner,
    standings: async (ids) => ({ standings: ids.map(() => null), now: await inner.now() }),
  }
  const api = await startApi(SQLITE, { engine })
  await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
  const { taskId: id, attempt, token } = await claimOne(api)
  const error = { message: 'x' }
  const settlements = [{ taskId: id, attempt, token, outcome: 'failed', error }]
  const settled = await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
  expect(settled.body).toEqual({ results: [{ outcome: 'superseded', because: 'unknown' }] })
  const late = await api.post(
    '/task-complete',
    { taskId: id, attempt, token, status: 'failed', error },
    { token: null },
  )
  expect([late.status, late.body]).toMatchObject([409, { code: 'REPRISE_SUPERSEDED' }])
})

test('intruder 7: a wrong token tells nothing about what there is, and asks the store nothing', async () => {
  const inner = await SQLITE.open()
  const asked: string[] = []
  const engine = new Proxy(inner, {
    get(target, name: keyof Engine) {
      asked.push(name)
      return target[name]
    },
  })
  const api = await startApi(SQLITE, { engine })
  await api.post('/api/v1/tasks', { id: 'there', action: 'a' })
  const lease = await claimOne(api)
  asked.length = 0
  const said = new Set<string>()
  for (const [id, attempt] of [
    ['there', 1],
    ['there', 2],
    ['nowhere', 1],
  ] as const) {
    for (const token of ['1.1', `${lease.token.slice(0, -1)}!`, `1.1.${'A'.repeat(22)}`, 'x'.repeat(600)]) {
      for (const ask of [complete, payload]) {
        const answered = await ask(api, { taskId: id, attempt, token })
        const { requestId: _, ...rest } = answered.body as { readonly requestId: string }
        said.add(JSON.stringify([answered.status, rest]))
      }
    }
  }
  expect([...said]).toEqual([expect.stringMatching(/^\[403,/)])
  // What kind of store it is, the engine knows by itself.
  expect(asked.filter((name) => name !== 'info')).toEqual([])
})

test('intruder 11: guesses at tokens count as failed sign-ins, and hold up no good one, used before or not', async () => {
  const api = await startApi(SQLITE)
  await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
  const lease = await claimOne(api)
  const statuses = new Map<number, number>()
  let last = await payload(api, { ...lease, token: '1.0' })
  for (let guess = 1; guess < 60; guess++) {
    last = await payload(api, { ...lease, token: `1.${guess}` })
    statuses.set(last.status, (statuses.get(last.status) ?? 0) + 1)
  }
  expect([last.status, last.headers.has('retry-after')]).toEqual([429, true])
  expect(statuses.get(403)).toBeLessThan(40)
  expect((await payload(api, lease)).status).toBe(200)
  expect((await complete(api, lease)).status).toBe(200)
})
