// Workers over HTTP, where they meet the rest: waiting for work, going away, losing their leases, and the judgement of failures.

import { once } from 'node:events'
import { type Engine, latestForTask, type TaskId, VirtualClock, workerId } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { type Api, claimOne, declare, type Lease, STORES, startApi } from './fixture.ts'

async function register(api: Api, worker: string): Promise<{ worker: string; epoch: number; pools: string[] }> {
  const pools = ['default']
  const registered = await api.post('/api/v1/workers', { worker, pools }, { token: api.tokens.worker })
  const { epoch } = registered.body as { readonly epoch: number }
  return { worker, epoch, pools }
}

/** The engine, with the name of each verb that asks the store. */
function counted(engine: Engine, calls: string[]): Engine {
  const verbs = Object.entries(engine).map(([name, member]: [string, unknown]) => {
    if (typeof member !== 'function' || ['mark', 'wait', 'collection'].includes(name)) return [name, member]
    return [
      name,
      (...input: unknown[]): unknown => {
        calls.push(name)
        return Reflect.apply(member, engine, input)
      },
    ]
  })
  return Object.fromEntries(verbs) as Engine
}

describe.each(STORES)('on $name', (store) => {
  test('a claim waits for work, and comes back as soon as there is some', async () => {
    const api = await startApi(store)
    const who = await register(api, 'w1')
    const claiming = api.post('/api/v1/claims', { ...who, waitMs: 60_000 }, { token: api.tokens.worker })
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    expect((await claiming).body).toMatchObject({ claimed: [{ taskId: 't1', attempt: 1 }] })
    const empty = await api.post('/api/v1/claims', { ...who, waitMs: 1 }, { token: api.tokens.worker })
    expect(empty.body).toMatchObject({ claimed: [], heldBack: null })
  })

  test('C9: a worker over HTTP is probed at the address that it calls from, and nowhere else', async () => {
    const api = await startApi(store)
    const token = api.tokens.worker
    const asking = (probe: object) =>
      api.post('/api/v1/workers', { worker: 'w1', pools: ['default'], probe }, { token })
    expect((await asking({ port: 9_320, path: '/healthz' })).status).toBe(201)
    const endpoint = async () => (await api.engine.worker(workerId('w1')))?.endpoint
    expect(await endpoint()).toBe('http://127.0.0.1:9320/healthz')
    for (const path of ['//other.example/x', '/@other.example', '/x?y=1', 'http://other.example']) {
      const { status } = await asking({ port: 80, path })
      // Two slashes are a path on the same host.
      const { hostname } = new URL((await endpoint()) ?? '')
      expect({ path, hostname, status }).toEqual({
        path,
        hostname: '127.0.0.1',
        status: path.startsWith('//') ? 201 : 400,
      })
    }
  })

  test('C9: the server sees coming what the figures of a worker over HTTP lead to', async () => {
    const clock = new VirtualClock()
    const api = await startApi(store, { clock })
    const { worker, epoch } = await register(api, 'w1')
    const view = async () => api.engine.worker(workerId(worker))
    const beat = (more: object) =>
      api.post(`/api/v1/workers/${worker}/beat`, { epoch, ...more }, { token: api.tokens.worker })
    for (let times = 0; times < 8; times++) {
      clock.jump(5_000)
      await beat({ queueDepth: 5 * times })
    }
    expect((await view())?.outlook).toMatch(/wait/)
    expect((await view())?.health.status).toBe('degraded')
    // One that looks ahead by itself is believed.
    await beat({ queueDepth: 40, outlook: null, maxQuietMs: 1_000 })
    expect(await view()).toMatchObject({ outlook: null, maxQuietMs: 1_000, health: { status: 'healthy' } })
  })

  test('a renewal brings log lines, of which the last that fit are kept', async () => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    const { taskId, attempt, token } = await claimOne(api)
    const renew = (log: object) =>
      api.post('/api/v1/leases/renew', { leases: [{ taskId, attempt, token, log }] }, { token: api.tokens.worker })
    const kept = async () => (await api.get('/api/v1/tasks/t1/logs')).body
    expect((await renew({ lines: [{ at: 5, level: 'warn', text: 'page\n4' }, { text: 'done' }] })).status).toBe(200)
    expect(await kept()).toMatchObject({
      items: [
        {
          attempt: 1,
          lines: [
            { at: 5, level: 'warn', text: expect.stringMatching(/^page.+4$/) as string },
            { level: 'info', text: 'done' },
          ],
          dropped: 0,
        },
      ],
    })
    const long = Array.from({ length: 10 }, (_, index) => ({ text: `${index}${'x'.repeat(4_000)}` }))
    expect((await renew({ lines: long, dropped: 2 })).body).toMatchObject({ results: [{ outcome: 'extended' }] })
    expect(await kept()).toMatchObject({ items: [{ lines: [{}, {}, {}, {}], dropped: 8 }] })
    const many = Array.from({ length: 101 }, () => ({ text: 'x' }))
    expect((await renew({ lines: many })).status).toBe(400)
  })

  test('A3: a task that is claimed for a waiting worker that has gone returns to the queue uncharged', async () => {
    const inner = await store.open()
    const waiting = Promise.withResolvers<void>()
    const claimedForGone = Promise.withResolvers<void>()
    const engine: Engine = {
      ...inner,
      async wait(filter, waitMs, signal) {
        if (filter.inbox !== 'w1' || signal === undefined) return inner.wait(filter, waitMs, signal)
        waiting.resolve()
        if (!signal.aborted) await once(signal, 'abort')
        // The worker has gone. The task comes before the server looks once more.
        await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
      },
      async claim(request) {
        const result = await inner.claim(request)
        if (result.claimed.length > 0 && request.worker === 'w1') claimedForGone.resolve()
        return result
      },
    }
    const api = await startApi(store, { engine })
    const who = await register(api, 'w1')
    const other = await register(api, 'w2')
    const gone = new AbortController()
    const claiming = fetch(`${api.url}/api/v1/claims`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.tokens.worker}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...who, waitMs: 60_000, leaseMs: 600_000 }),
      signal: gone.signal,
    }).catch(() => null)
    await waiting.promise
    gone.abort()
    await claiming
    await claimedForGone.promise
    const claims = await api.post('/api/v1/claims', { ...other, waitMs: 20_000 }, { token: api.tokens.worker })
    expect(claims.body).toMatchObject({ claimed: [{ taskId: 't1', attempt: 1 }] })
    expect(await engine.task('t1' as TaskId)).toMatchObject({ attempt: 1, failures: 0, losses: 0 })
  })

  test('fault 16: somebody else renews for a worker that can not, in its epoch and within the time-outs', async () => {
    const api = await startApi(store)
    const token = api.tokens.worker
    await api.post('/api/v1/tasks', { id: 't1', action: 'a', settings: { timeout: '10s' } })
    const { epoch, ...who } = await register(api, 'w1')
    await api.post('/api/v1/claims', { ...who, epoch, waitMs: 0 }, { token })
    const leaseOf = async () => {
      const { state } = (await api.engine.task('t1' as TaskId)) ?? {}
      return state?.status === 'running' ? state : null
    }
    const vouch = (more: object, by = token) => api.post('/api/v1/workers/w1/vouch', more, { token: by })
    const before = await leaseOf()
    const outlook = 'claims nothing: it computes'
    expect((await vouch({ epoch, leaseMs: 3_600_000, outlook })).body).toEqual({ renewed: 1 })
    expect((await leaseOf())?.leaseUntil).toBe((before?.timeoutAt ?? 0) + 5_000)
    expect((await api.engine.worker(workerId('w1')))?.outlook).toBe(outlook)
    expect((await vouch({ epoch: epoch + 1 })).body).toEqual({ renewed: 0 })
    expect((await vouch({ epoch }, api.tokens.operator)).status).toBe(403)
  })

  test('fault 18: a worker id that is used again fences the older one', async () => {
    const api = await startApi(store)
    const older = await register(api, 'w1')
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    const { taskId, attempt, token } = await claimOne(api, 'w1')
    await register(api, 'w1')
    const fenced = await api.post('/api/v1/claims', { ...older, waitMs: 0 }, { token: api.tokens.worker })
    expect([fenced.status, fenced.body]).toMatchObject([409, { code: 'REPRISE_WORKER_FENCED' }])
    const leases = [{ taskId, attempt, token }]
    const renewed = await api.post('/api/v1/leases/renew', { leases }, { token: api.tokens.worker })
    expect(renewed.body).toMatchObject({ results: [{ outcome: 'superseded' }] })
    const settlements = [{ taskId, attempt, token, outcome: 'succeeded' }]
    const settled = await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    expect(settled.body).toMatchObject({ results: [{ outcome: 'superseded' }] })
    const late = await api.post('/task-complete', { taskId, attempt, token, status: 'succeeded' }, { token: null })
    expect([late.status, late.body]).toMatchObject([409, { code: 'REPRISE_SUPERSEDED' }])
  })

  test.each([
    [{ code: 'ECONNRESET', message: 'reset' }, 'waiting', 'connection'],
    [{ status: 503, message: 'away' }, 'waiting', 'worker_unavailable'],
    [{ message: 'anything', retryable: true }, 'waiting', 'transient'],
    [{ message: 'later', retryAfterMs: 60_000 }, 'waiting', 'transient'],
    [{ message: 'a riddle' }, 'waiting', 'unknown'],
    [{ message: 'a bug', name: 'TypeError' }, 'dead', 'unknown'],
    [{ status: 404, message: 'gone' }, 'dead', 'not_found'],
    [{ code: 'ECONNRESET', message: 'no more', retryable: false }, 'dead', 'permanent'],
  ])('B1, C3: a failure reported as %j is %s by reason %s', async (error, status, reason) => {
    const api = await startApi(store)
    await declare(api, { name: 'a', retry: { max: 3 } })
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    const { taskId, attempt, token } = await claimOne(api)
    const settlements = [{ taskId, attempt, token, outcome: 'failed', error }]
    const settled = await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    expect(settled.body).toMatchObject({ results: [{ outcome: 'settled', status, repeated: false }] })
    const again = await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    expect(again.body).toMatchObject({ results: [{ outcome: 'settled', status, repeated: true }] })
    const execution = await latestForTask(api.engine, 't1' as TaskId)
    expect(execution?.failure).toMatchObject({ reason, stack: null })
    const task = await api.engine.task('t1' as TaskId)
    expect(task?.failures).toBe(1)
  })

  test('B1: a worker that asks for patience gets it', async () => {
    const api = await startApi(store)
    await declare(api, { name: 'a', retry: { max: 3 } })
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    const { taskId, attempt, token } = await claimOne(api)
    const error = { message: 'later', retryAfterMs: 60_000 }
    await api.post('/task-complete', { taskId, attempt, token, status: 'failed', error }, { token: null })
    const task = await api.engine.task('t1' as TaskId)
    const execution = await latestForTask(api.engine, 't1' as TaskId)
    expect(task?.state).toMatchObject({ status: 'waiting', dueAt: (execution?.resolvedAt ?? 0) + 60_000 })
  })

  test('B1: 50 failures in one request cost two trips to the store', async () => {
    const calls: string[] = []
    const engine = counted(await store.open(), calls)
    const api = await startApi(store, { engine })
    await declare(api, { name: 'a', retry: { max: 3 } })
    await Promise.all(Array.from({ length: 50 }, (_, n) => api.post('/api/v1/tasks', { id: `t${n}`, action: 'a' })))
    const who = await register(api, 'w1')
    const claims = await api.post('/api/v1/claims', { ...who, limit: 50, waitMs: 0 }, { token: api.tokens.worker })
    const { claimed } = claims.body as { readonly claimed: readonly Lease[] }
    const settlements = claimed.map(({ taskId, attempt, token }, n) => {
      return { taskId, attempt, token, outcome: 'failed', error: { message: 'away', retryable: n % 2 === 0 } }
    })
    // So that no sign-in is looked up any more.
    await api.post('/api/v1/leases/renew', { leases: [] }, { token: api.tokens.worker })
    calls.length = 0
    const settled = await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    expect(calls).toEqual(['standings', 'settle'])
    const { results } = settled.body as { readonly results: readonly { readonly status: string }[] }
    expect(results.map(({ status }) => status)).toEqual(settlements.map((_, n) => (n % 2 === 0 ? 'waiting' : 'dead')))
  })

  test('progress is seen while it runs, and a release gives it back unharmed', async () => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    const { taskId, attempt, token } = await claimOne(api)
    const leases = [{ taskId, attempt, token, progress: { fraction: 0.5, note: 'half way' } }]
    await api.post('/api/v1/leases/renew', { leases }, { token: api.tokens.worker })
    expect((await api.get('/api/v1/tasks/t1')).body).toMatchObject({
      state: { status: 'running', progress: { fraction: 0.5, note: 'half way' } },
    })
    const settlements = [{ taskId, attempt, token, outcome: 'released', reason: 'shutting down' }]
    await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    expect((await api.get('/api/v1/tasks/t1')).body).toMatchObject({ attempt: 0, state: { status: 'queued' } })
  })
})
