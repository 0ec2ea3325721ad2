// The operator's retry as A8 has it: every status, in its order, on both engines, over real HTTP.

import { type Engine, StoreBusyError, type TaskId } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { type Api, claimOne, STORES, startApi } from './fixture.ts'

const retry = (api: Api, id: string, token: string | null = api.tokens.operator) =>
  api.post(`/dashboard/executions/${id}/retry`, undefined, { token })

async function failedTask(api: Api, id: string): Promise<void> {
  await api.post('/api/v1/tasks', { id, action: 'report', payload: {} })
  const { taskId, attempt, token } = await claimOne(api)
  const error = { message: 'it broke', retryable: false }
  const settlements = [{ taskId, attempt, token, outcome: 'failed', error }]
  const settled = await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
  const sentence = 'The handler says that a retry does not help.'
  expect(settled.body).toEqual({ results: [{ outcome: 'settled', status: 'dead', repeated: false, sentence }] })
}

/** Matches no action: it counts only where a retry names it. */
const PATIENT = `
policies:
  - name: patient
    match: { actions: [nothing-at-all] }
    retries: 3
    backoff: { kind: fixed, delay: 7s, jitter: 0 }
    rules: [{ name: odd-words, when: { message: "the moon is full" }, then: { reason: transient } }]
`

describe.each(STORES)('on $name', (store) => {
  test('A8: 401 dashboard_unauthorized comes first, also for a task that does not exist', async () => {
    const api = await startApi(store)
    for (const token of [null, 'rpr_0000000000000000_00', 'nonsense']) {
      const answered = await retry(api, 'nobody', token)
      expect(answered.status).toBe(401)
      expect(answered.body).toMatchObject({ error: 'dashboard_unauthorized', code: 'REPRISE_UNAUTHENTICATED' })
      expect(answered.headers.get('www-authenticate')).toContain('Bearer')
    }
    expect((await retry(api, 'nobody', api.tokens.viewer)).status).toBe(403)
  })

  test('A8: 404 for no task, and for a task without an execution', async () => {
    const api = await startApi(store)
    expect((await retry(api, 'nobody')).status).toBe(404)
    await api.post('/api/v1/tasks', { id: 'fresh', action: 'report' })
    expect((await retry(api, 'fresh')).status).toBe(404)
  })

  test('A8: 409 by status while it runs and once it has succeeded', async () => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'report' })
    const { taskId, attempt, token } = await claimOne(api)
    const running = await retry(api, 't1')
    expect(running.status).toBe(409)
    expect(running.body).toMatchObject({ error: "cannot retry execution in status 'running'" })
    await api.post('/task-complete', { taskId, attempt, token, status: 'succeeded' }, { token: null })
    expect((await retry(api, 't1')).body).toMatchObject({ error: "cannot retry execution in status 'succeeded'" })
  })

  test('A8, A9: 202 within the budget, then 409 when it is used up', async () => {
    const api = await startApi(store)
    await failedTask(api, 't1')
    const queued = await retry(api, 't1')
    expect(queued.status).toBe(202)
    expect(queued.body).toEqual({ taskId: 't1', attempt: 2, status: 'queued' })
    const again = await retry(api, 't1')
    expect(again.status).toBe(409)
    const { taskId, attempt, token } = await claimOne(api)
    expect(attempt).toBe(2)
    const failure = { taskId, attempt, token, status: 'failed', error: { message: 'again', retryable: false } }
    await api.post('/task-complete', failure, { token: null })
    const exhausted = await retry(api, 't1')
    expect(exhausted.status).toBe(409)
    expect(exhausted.body).toMatchObject({ error: 'retry budget exhausted', code: 'REPRISE_BUDGET_EXHAUSTED' })
  })

  test('C8, B5: the same at /api/v1/executions and /internal/tasks, where the budget can be another', async () => {
    const api = await startApi(store)
    await failedTask(api, 'a:1')
    const token = api.tokens.operator
    expect((await api.post('/api/v1/executions/a:1:1/retry', undefined, { token })).body).toMatchObject({ attempt: 2 })
    await api.post('/api/v1/tasks/a:1/cancel', {})
    await failedTask(api, 't2')
    const none = await api.post('/internal/tasks/retry', { taskId: 't2', maxRetries: 0 }, { token })
    // The original attempt failed once: with no retries in the budget that is one too many.
    expect([none.status, none.body]).toMatchObject([409, { error: 'retry budget exhausted' }])
    const unknown = await api.post('/internal/tasks/retry', { taskId: 't2', policy: 'nobody' }, { token })
    expect(unknown.status).toBe(404)
    const more = await api.post('/internal/tasks/retry', { taskId: 't2', maxRetries: 5, reason: 'because' }, { token })
    expect(more.body).toMatchObject({ taskId: 't2', status: 'queued' })
    const { entries } = await api.engine.journal.read({ taskId: 't2' as TaskId })
    expect(entries.find(({ type }) => type === 'task.retried')).toMatchObject({
      reason: 'because',
      actor: 'token:operator-all',
    })
  })

  test('B5: /internal/tasks/retry takes a whole policy, by which the server judges what a worker reports', async () => {
    const api = await startApi(store)
    await api.send('PUT', '/api/v1/policies', { body: { text: PATIENT } })
    await failedTask(api, 't1')
    const token = api.tokens.operator
    const queued = await api.post('/internal/tasks/retry', { taskId: 't1', policy: 'patient' }, { token })
    expect(queued.body).toEqual({ taskId: 't1', attempt: 2, status: 'queued' })
    const { taskId, attempt, token: lease } = await claimOne(api, 'w2')
    const error = { message: 'the moon is full' }
    const settlements = [{ taskId, attempt, token: lease, outcome: 'failed', error }]
    await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
    expect((await api.get('/api/v1/tasks/t1')).body).toMatchObject({ policy: 'patient', state: { status: 'waiting' } })
    const { decision } = (await api.engine.execution('t1' as TaskId, 2)) ?? {}
    expect(decision).toMatchObject({ kind: 'retry', delayMs: 7_000, policy: { name: 'patient', version: 1 } })
  })

  test('A8: a store that can not be read is 502', async () => {
    const inner = await store.open()
    const engine: Engine = new Proxy(inner, {
      get(target, key) {
        if (key === 'task' && isDown) return () => Promise.reject(new StoreBusyError('The store is away.'))
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    let isDown = false
    const api = await startApi(store, { engine })
    await failedTask(api, 't1')
    isDown = true
    const answered = await retry(api, 't1')
    expect([answered.status, answered.body]).toMatchObject([502, { code: 'REPRISE_STORE_UNREACHABLE' }])
    isDown = false
    expect((await retry(api, 't1')).status).toBe(202)
  })
})
