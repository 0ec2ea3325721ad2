// Limits of tenants over HTTP: from the policies, with clear refusals, and with figures for those who see all tenants.

import { expect, test } from 'vitest'
import { claimOne, STORES, startApi } from './fixture.ts'

const POLICIES = `
tenants:
  default: { backlog: 3, bytes: 100, submits_per_second: 1000 }
  slow: { submits_per_second: 1, backlog: none }
`
const task = (id: string, payload: unknown = {}) => ({ action: 'render', id, payload })

test.each(STORES)('intruder 12: limits of tenants refuse by name, on $name', async (store) => {
  const api = await startApi(store)
  expect((await api.send('PUT', '/api/v1/policies', { body: { text: POLICIES } })).status).toBeLessThan(300)
  const acme = { token: await api.tokenFor('operator', ['acme']) }
  const slow = { token: await api.tokenFor('operator', ['slow']) }
  const blue = { token: await api.tokenFor('operator', ['blue']) }
  const submit = (id: string, who: typeof acme, payload?: unknown) => api.post('/api/v1/tasks', task(id, payload), who)

  for (const id of ['a', 'b', 'c']) expect((await submit(id, acme)).status).toBe(201)
  const full = await submit('d', acme)
  expect([full.status, full.body]).toMatchObject([409, { code: 'REPRISE_TENANT_BACKLOG_FULL' }])
  expect((full.body as { detail: string }).detail).toMatch(/'acme' has 3 tasks that have not ended; its limit is 3/)
  expect((await submit('a', acme)).body).toMatchObject({ outcome: 'duplicate', id: '@acme~a' })

  const large = await submit('a', blue, 'x'.repeat(200))
  expect([large.status, large.body]).toMatchObject([507, { code: 'REPRISE_TENANT_BYTES_FULL' }])
  expect((await submit('a', blue)).status).toBe(201)

  expect((await submit('a', slow)).status).toBe(201)
  const fast = await submit('b', slow)
  expect([fast.status, fast.headers.get('retry-after'), fast.body]).toMatchObject([
    429,
    '1',
    { code: 'REPRISE_RATE_LIMITED' },
  ])

  const lines = ['a', 'd'].map((id) => `${JSON.stringify(task(id))}\n`).join('')
  const bulk = await api.send('POST', '/api/v1/tasks/bulk', {
    ...acme,
    raw: lines,
    headers: { 'content-type': 'application/x-ndjson' },
  })
  expect(
    bulk.text
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toMatchObject([{ outcome: 'duplicate' }, { outcome: 'refused', code: 'REPRISE_TENANT_BACKLOG_FULL' }])

  await claimOne(api)
  const { items } = (await api.get('/api/v1/tenants')).body as { items: { tenant: string }[] }
  expect(items.find(({ tenant }) => tenant === 'acme')).toMatchObject({
    backlog: 3,
    bytes: 6,
    limits: { backlog: 3, bytes: 100, submitsPerSecond: 1_000, running: '80%' },
  })
  expect((await api.get('/api/v1/tenants', acme)).status).toBe(403)
  expect((await api.get('/metrics')).text).toMatch(/reprise_tenant_refusals_total\{limit="backlog"\} 2/)
})

test.each(STORES)('intruder 12: events of failures count like submissions, on $name', async (store) => {
  const api = await startApi(store, { tenantRules: { acme: { backlog: 1 } } })
  const acme = { token: await api.tokenFor('operator', ['acme']) }
  const report = (key: string) => ({
    specversion: '1.0',
    type: 'task.execution.failed',
    source: 'elsewhere',
    id: key,
    data: { action: 'render', idempotencyKey: key, errorCode: 'E_FAILED', retryable: true, payload: {} },
  })
  const send = (key: string) =>
    api.send('POST', '/api/v1/events', {
      ...acme,
      raw: JSON.stringify(report(key)),
      headers: { 'content-type': 'application/cloudevents+json' },
    })
  expect((await send('one')).body).toMatchObject({ results: [{ outcome: 'retrying' }] })
  expect((await send('two')).body).toMatchObject({ results: [{ outcome: 'refused' }] })
  expect((await send('one')).body).toMatchObject({ results: [{ outcome: 'retrying' }] })
})
