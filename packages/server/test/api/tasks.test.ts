// Tasks over HTTP, on both engines: every answer is held against the schema that the contract promises for it.

import { ROUTES } from '@reprise/operations'
import { describe, expect, test } from 'vitest'
import { type Answered, claimOne, declare, STORES, startApi } from './fixture.ts'

/** What came back is what the contract says. */
function fits(operation: string, answered: Answered): Answered {
  const answer = ROUTES[operation]?.answers[answered.status]
  if (answer?.kind !== 'json') throw new Error(`${operation} answered ${answered.status}: ${answered.text}`)
  const parsed = answer.schema.safeParse(answered.body)
  expect([operation, parsed.error?.issues ?? []]).toEqual([operation, []])
  return answered
}

describe.each(STORES)('on $name', (store) => {
  test('submits, finds, follows and explains a task', async () => {
    const api = await startApi(store)
    await declare(api, { name: 'invoice.send', timeout: '7s', retry: { max: 4 } })
    const submitted = fits(
      'submitTask',
      await api.post('/api/v1/tasks', {
        action: 'invoice.send',
        payload: { to: 'ann', n: '12345678901234567890' },
        tenant: 'acme',
        labels: { region: 'eu' },
        settings: { queueTtl: '1h' },
      }),
    )
    expect(submitted.status).toBe(201)
    const { id } = submitted.body as { readonly id: string }
    const task = fits('getTask', await api.get(`/api/v1/tasks/${id}`))
    expect(task.body).toMatchObject({
      id,
      tenant: 'acme',
      payload: { to: 'ann', n: '12345678901234567890' },
      settings: { timeoutMs: 7_000, maxRetries: 4, queueTtlMs: 3_600_000 },
      state: { status: 'queued' },
    })
    expect(fits('explainTask', await api.get(`/api/v1/tasks/${id}/explain`)).body).toMatchObject({
      gates: [{ kind: 'no_worker' }],
    })
    const found = await api.get(
      `/api/v1/tasks?q=${encodeURIComponent('status:live action:invoice.* tenant:acme age<1h')}`,
    )
    expect(fits('listTasks', found).body).toMatchObject({ items: [{ id }], next: null })
    expect(found.body).not.toHaveProperty('warnings')
    const quoted = await api.get(`/api/v1/tasks?q=${encodeURIComponent('status:live "not action:other"')}`)
    expect(fits('listTasks', quoted).body).toMatchObject({
      items: [],
      warnings: [expect.stringContaining("If 'not action:other' is a term of the query")],
    })
    const { taskId, attempt, token } = await claimOne(api)
    expect(JSON.stringify((await api.get(`/api/v1/tasks/${id}`)).body)).not.toContain(token)
    const done = { taskId, attempt, token, outcome: 'succeeded', result: { sent: true } }
    fits('settle', await api.post('/api/v1/settlements', { settlements: [done] }, { token: api.tokens.worker }))
    expect((await api.get(`/api/v1/tasks/${id}?wait=5s`)).body).toMatchObject({
      state: { status: 'succeeded', result: { sent: true } },
    })
    const executions = fits('listExecutions', await api.get(`/api/v1/tasks/${id}/executions`))
    expect(executions.body).toMatchObject({ items: [{ attempt: 1, status: 'succeeded', chain: { retryCount: 0 } }] })
    expect(executions.text).not.toContain(token)
    fits('getExecution', await api.get(`/api/v1/tasks/${id}/executions/latest`))
    fits('counts', await api.get('/api/v1/counts?tenant=acme'))
    fits('series', await api.get('/api/v1/series?minutes=5'))
    fits('listLanes', await api.get('/api/v1/lanes'))
    fits('listWorkers', await api.get('/api/v1/workers'))
    fits('getWorker', await api.get('/api/v1/workers/w1'))
    fits('scaling', await api.get('/api/v1/scaling'))
    fits('monitoring', await api.get('/api/v1/monitoring'))
    fits('info', await api.get('/api/v1/info'))
    fits('ready', await api.get('/readyz'))
  })

  test('a submission names no dependencies but those of its action, and brings no settings for their breakers', async () => {
    const api = await startApi(store)
    const breaker = { minFailures: 7 }
    await declare(api, { name: 'invoice.send', uses: ['stripe', 'mail'], breaker })
    await declare(api, { name: 'plain' })
    const refused = async (action: string, uses: readonly string[]) => {
      const { status, body } = await api.post('/api/v1/tasks', { action, settings: { uses } })
      expect(status).toBe(400)
      return (body as { readonly detail: string }).detail
    }
    expect(await refused('invoice.send', ['stripe', 'x'])).toMatch(
      /settings\.uses: action 'invoice\.send' does not use 'x'\. It uses 'stripe', 'mail'\./,
    )
    expect(await refused('plain', ['stripe'])).toMatch(/does not use 'stripe'\. It uses nothing\./)
    expect(await refused('nobody.knows', ['stripe'])).toMatch(/It uses nothing\./)
    const { body } = await api.post('/api/v1/tasks', { action: 'invoice.send', settings: { uses: ['mail'] } })
    const { id } = body as { readonly id: string }
    expect((await api.get(`/api/v1/tasks/${id}`)).body).toMatchObject({
      settings: { breakers: [{ name: 'dependency:mail', settings: breaker }] },
    })
  })

  test('a time-out below that of the action is marked as the submission’s own', async () => {
    const api = await startApi(store)
    await declare(api, { name: 'invoice.send', timeout: '7s' })
    const settingsOf = async (timeout: string): Promise<unknown> => {
      const { body } = await api.post('/api/v1/tasks', { action: 'invoice.send', settings: { timeout } })
      const { id } = body as { readonly id: string }
      return ((await api.get(`/api/v1/tasks/${id}`)).body as { readonly settings: unknown }).settings
    }
    expect(await settingsOf('1ms')).toMatchObject({ timeoutMs: 1, ownTimeout: true })
    expect(await settingsOf('7s')).not.toHaveProperty('ownTimeout')
    expect(await settingsOf('8s')).not.toHaveProperty('ownTimeout')
  })

  test('an Idempotency-Key finds the first task again, and refuses another', async () => {
    const api = await startApi(store)
    const headers = { 'idempotency-key': 'order-17' }
    const first = await api.post('/api/v1/tasks', { action: 'a', payload: 1 }, { headers })
    const again = await api.post('/api/v1/tasks', { action: 'a', payload: 1 }, { headers })
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual({ ...(first.body as object), outcome: 'duplicate' })
    const other = await api.post('/api/v1/tasks', { action: 'a', payload: 2 }, { headers })
    expect([other.status, other.body]).toMatchObject([409, { code: 'REPRISE_CONFLICT' }])
    // Another caller's key is another key.
    const theirs = await api.post('/api/v1/tasks', { action: 'a', payload: 2 }, { headers, token: api.tokens.operator })
    expect(theirs.status).toBe(201)
  })

  test('intruder 7: a token that gets the name of a revoked one inherits none of its keys', async () => {
    const api = await startApi(store)
    const headers = { 'idempotency-key': 'order-17' }
    const make = async () => {
      const made = await api.post('/api/v1/tokens', { name: 'shop', scopes: ['submit'] })
      return made.body as { readonly id: string; readonly token: string }
    }
    const submit = (token: string) => api.post('/api/v1/tasks', { action: 'a', payload: 1 }, { headers, token })
    const first = await make()
    const before = await submit(first.token)
    await api.send('DELETE', `/api/v1/tokens/${first.id}`)
    const after = await submit((await make()).token)
    expect([before.status, after.status]).toEqual([201, 201])
    expect(after.body).not.toMatchObject({ id: (before.body as { readonly id: string }).id })
  })

  test('takes many tasks as lines, and refuses the wrong ones by themselves', async () => {
    const api = await startApi(store)
    const lines = Array.from({ length: 2_500 }, (_, index) =>
      JSON.stringify({ action: 'bulk', payload: index, id: `b${index}` }),
    )
    lines[7] = '{ "action": 7 }'
    lines[8] = 'nonsense'
    const answered = await api.send('POST', '/api/v1/tasks/bulk', {
      raw: `${lines.join('\n')}\n`,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    const answers = answered.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly outcome: string })
    expect(answers).toHaveLength(2_500)
    expect(answers[7]).toMatchObject({ line: 8, outcome: 'refused', code: 'REPRISE_INVALID' })
    expect(answers.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(2_498)
    expect((await api.get('/api/v1/counts')).body).toMatchObject({ accepted: 2_498, queued: 2_498 })
  })

  test('intruder 7: tasks of another tenant are not there, for whoever is limited to some', async () => {
    const api = await startApi(store)
    const token = await api.tokenFor('operator', ['acme'])
    await api.post('/api/v1/tasks', { id: 'theirs', action: 'a', tenant: 'blue' })
    await api.post('/api/v1/tasks', { id: 'ours', action: 'a' }, { token })
    expect((await api.get('/api/v1/tasks/ours', { token })).body).toMatchObject({ tenant: 'acme' })
    for (const path of ['/api/v1/tasks/theirs', '/api/v1/tasks/theirs/executions', '/api/v1/tasks/theirs/explain']) {
      expect((await api.get(path, { token })).status).toBe(404)
    }
    expect((await api.post('/api/v1/tasks/theirs/cancel', {}, { token })).status).toBe(404)
    expect((await api.post('/api/v1/tasks/cancel', { ids: ['theirs'] }, { token })).status).toBe(404)
    expect((await api.post('/dashboard/executions/theirs/retry', undefined, { token })).status).toBe(404)
    expect((await api.get('/api/v1/tasks', { token })).body).toMatchObject({
      items: [{ id: '@acme~ours' }],
      next: null,
    })
    expect((await api.get('/api/v1/counts', { token })).body).toMatchObject({ accepted: 1 })
    expect((await api.get('/api/v1/counts?tenant=blue', { token })).status).toBe(404)
    expect((await api.post('/api/v1/tasks', { action: 'a', tenant: 'blue' }, { token })).status).toBe(403)
    expect((await api.get('/api/v1/workers', { token })).status).toBe(403)
    await claimOne(api)
    expect((await api.get('/api/v1/tasks/ours/explain', { token })).body).toMatchObject({ workers: [] })
    expect((await api.get('/api/v1/tasks/@acme~ours/explain')).body).toMatchObject({ workers: [{ worker: 'w1' }] })
    // Everything they may cancel is theirs alone.
    await api.post('/api/v1/tasks/cancel', { action: 'a' }, { token })
    expect((await api.get('/api/v1/tasks/theirs')).body).not.toMatchObject({ state: { status: 'cancelled' } })
  })

  test('operators cancel, pause, resume and limit; nothing means everything by accident', async () => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    for (const path of [
      'tasks/cancel',
      'tasks/redrive',
      'tasks/discard',
      'tasks/promote',
      'lanes/pause',
      'lanes/resume',
    ]) {
      expect([path, (await api.post(`/api/v1/${path}`, {})).status]).toEqual([path, 400])
    }
    fits('pauseLanes', await api.post('/api/v1/lanes/pause', { action: 'a', reason: 'looking' }))
    expect((await api.get('/api/v1/tasks/t1/explain')).body).toMatchObject({ gates: [{ kind: 'paused' }, {}] })
    expect((await api.post('/api/v1/lanes/resume', { action: 'a' })).body).toEqual({ changed: true })
    fits('limitLanes', await api.post('/api/v1/lanes/limit', { action: 'a', concurrency: 2 }))
    const cancelled = fits('cancelTask', await api.post('/api/v1/tasks/t1/cancel', { reason: 'wrong' }))
    expect(cancelled.body).toMatchObject({ state: { status: 'cancelled' } })
    expect((await api.post('/api/v1/tasks/t1/cancel', {})).status).toBe(200)
  })

  test('B12: a feature that is switched off refuses what belongs to it, until it is on again', async () => {
    const api = await startApi(store)
    const off = await api.send('PUT', '/api/v1/flags/dlq-inspector', { body: { on: false, reason: 'maintenance' } })
    expect(fits('setFlag', off).body).toMatchObject({ on: false, changedBy: 'token:admin-all' })
    for (const [method, path] of [
      ['GET', 'failure-groups'],
      ['POST', 'tasks/redrive'],
      ['POST', 'tasks/discard'],
    ] as const) {
      const answered = await api.send(method, `/api/v1/${path}`, method === 'GET' ? {} : { body: { all: true } })
      expect([path, answered.status, answered.body]).toMatchObject([path, 403, { code: 'REPRISE_FEATURE_OFF' }])
    }
    await api.send('PUT', '/api/v1/flags/dlq-inspector', { body: { on: true } })
    expect((await api.get('/api/v1/failure-groups')).status).toBe(200)
    expect((await api.send('PUT', '/api/v1/flags/nothing', { body: { on: true } })).status).toBe(404)
    fits('listFlags', await api.get('/api/v1/flags'))
  })

  test('B7: policies are changed, versioned, tried out and guarded by If-Match', async () => {
    const api = await startApi(store)
    const policies = (retries: number) => `policies:\n  - name: all\n    match: {}\n    retries: ${retries}\n`
    expect((await api.get('/api/v1/policies')).body).toEqual({ version: null, notes: [] })
    const dry = await api.send('PUT', '/api/v1/policies', { body: { text: policies(2), dryRun: true } })
    expect(fits('publishPolicies', dry).body).toMatchObject({ version: null })
    const first = await api.send('PUT', '/api/v1/policies', { body: { text: policies(2) } })
    expect(fits('publishPolicies', first).body).toMatchObject({ version: { number: 1, by: 'token:admin-all' } })
    const stale = await api.send('PUT', '/api/v1/policies', {
      body: { text: policies(3) },
      headers: { 'if-match': '"7"' },
    })
    expect([stale.status, stale.body]).toMatchObject([409, { code: 'REPRISE_CONFLICT' }])
    const wrong = await api.send('PUT', '/api/v1/policies', { body: { text: 'policies:\n  - nmae: x\n' } })
    expect([wrong.status, wrong.text]).toMatchObject([400, expect.stringContaining('nmae')])
    const simulated = await api.post('/api/v1/policies/simulate', { action: 'a', failure: { code: 'ECONNRESET' } })
    expect(fits('simulatePolicies', simulated).body).toMatchObject({
      attempts: [{}, {}, { decision: { kind: 'dead' } }],
    })
    // Without a policy for it, what the action declares counts.
    await declare(api, { name: 'patient', retry: { max: 7 } })
    const none = { text: 'policies: []', action: 'patient', failure: { code: 'ECONNRESET' } }
    const own = await api.post('/api/v1/policies/simulate', none)
    expect((own.body as { readonly attempts: readonly unknown[] }).attempts).toHaveLength(8)
    fits('listPolicyVersions', await api.get('/api/v1/policies/versions'))
    fits('getPolicyVersion', await api.get('/api/v1/policies/versions/1'))
    fits('policyTemplates', await api.get('/api/v1/policies/templates'))
    expect((await api.get('/api/v1/policies/versions/2')).status).toBe(404)
  })

  test('C3: retries that only the submission asks for are for unknown failures too', async () => {
    const api = await startApi(store)
    await declare(api, { name: 'plain' })
    await declare(api, { name: 'careful', retry: { max: 1, unknown: false } })
    const retryUnknown = async (action: string, settings: object): Promise<unknown> => {
      const { body } = await api.post('/api/v1/tasks', { action, settings })
      const task = await api.get(`/api/v1/tasks/${(body as { readonly id: string }).id}`)
      return (task.body as { readonly settings: { readonly retryUnknown: boolean } }).settings.retryUnknown
    }
    expect(await retryUnknown('plain', { timeout: '1s' })).toBe(false)
    expect(await retryUnknown('plain', { retry: { max: 0 } })).toBe(false)
    expect(await retryUnknown('plain', { retry: { max: 2 } })).toBe(true)
    expect(await retryUnknown('plain', { retry: { max: 2, unknown: false } })).toBe(false)
    expect(await retryUnknown('careful', { retry: { max: 2 } })).toBe(false)
  })

  test('a submission can set retries and their backoff, and an old name is answered by the new one', async () => {
    const api = await startApi(store)
    await declare(api, { name: 'plain', retry: { max: 1 } })
    const backoff = { kind: 'fixed', delay: '5s', jitter: 0 }
    await api.post('/api/v1/tasks', { id: 't1', action: 'plain', settings: { retry: { backoff } } })
    expect((await api.get('/api/v1/tasks/t1')).body).toMatchObject({
      settings: { maxRetries: 1, backoff: { kind: 'fixed', delayMs: 5_000, jitter: 0 }, retryUnknown: true },
    })
    const old = await api.post('/api/v1/tasks', { action: 'plain', settings: { maxRetries: 2 } })
    expect(old.status).toBe(400)
    expect(old.text).toContain("It is called 'retry: { max }'.")
    const beat = await api.post('/api/v1/workers/w1/beat', { epoch: 1, quietMsMax: 1 }, { token: api.tokens.worker })
    expect([beat.status, beat.text]).toEqual([400, expect.stringContaining("It is called 'maxQuietMs'.") as string])
    const odd = await api.post('/api/v1/tasks', { action: 'plain', settings: { retry: { backoff: { kind: 'odd' } } } })
    expect(odd.status).toBe(400)
  })

  test('D1: a worker that is told to drain gets nothing new, and hears of it', async () => {
    const api = await startApi(store)
    const token = api.tokens.worker
    const registered = await api.post('/api/v1/workers', { worker: 'w1', pools: ['default'] }, { token })
    const { epoch } = registered.body as { readonly epoch: number }
    await api.post('/api/v1/tasks', { action: 'a' })
    expect((await api.post('/api/v1/workers/w1/drain', { reason: 'deploy' })).body).toEqual({ changed: true })
    expect((await api.post('/api/v1/workers/w1/drain', {})).body).toEqual({ changed: false })
    expect((await api.post('/api/v1/workers/nobody/drain', {})).status).toBe(404)
    const claims = await api.post('/api/v1/claims', { worker: 'w1', epoch, pools: ['default'] }, { token })
    expect(fits('claim', claims).body).toMatchObject({ claimed: [], drain: true })
    const beat = await api.post('/api/v1/workers/w1/beat', { epoch }, { token })
    expect(fits('beat', beat).body).toEqual({ outcome: 'current', drain: true })
    // A new epoch is free of it.
    const renewed = await api.post('/api/v1/workers', { worker: 'w1', pools: ['default'] }, { token })
    const next = renewed.body as { readonly epoch: number }
    const again = await api.post('/api/v1/claims', { worker: 'w1', epoch: next.epoch, pools: ['default'] }, { token })
    expect(again.body).toMatchObject({ claimed: [{ attempt: 1 }], drain: false })
  })

  test('B11: inspect finds nothing in a store that is well, and repairs for administrators only', async () => {
    const api = await startApi(store)
    await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
    const token = api.tokens.operator
    const looked = fits('inspect', await api.post('/api/v1/inspect', {}, { token }))
    expect(looked.body).toMatchObject({ findings: [] })
    expect((await api.post('/api/v1/inspect', { repair: true }, { token })).status).toBe(403)
    fits('inspect', await api.post('/api/v1/inspect', { repair: true, reason: 'checking' }))
  })

  test('a parameter that nobody knows is refused, and says so', async () => {
    const api = await startApi(store)
    const answered = await api.get('/api/v1/tasks?query=status:dead')
    expect([answered.status, answered.text]).toMatchObject([400, expect.stringContaining('query')])
  })
})
