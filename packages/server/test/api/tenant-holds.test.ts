// What the platform holds or limits of a tenant's lanes, the tenant's own operators can neither lift nor change.

import { expect, test } from 'vitest'
import { STORES, startApi } from './fixture.ts'

const TENANT = { tenant: 'acme' }

test.each(STORES)(
  "intruder 12: a tenant's operator can't lift or change what the platform set, on $name",
  async (store) => {
    const api = await startApi(store)
    const own = { token: await api.tokenFor('operator', ['acme']) }
    await api.post('/api/v1/tasks', { action: 'render', tenant: 'acme', payload: {} })
    const gates = async (): Promise<unknown> =>
      ((await api.get('/api/v1/lanes', own)).body as { items: { gates: unknown }[] }).items[0]?.gates
    await api.post('/api/v1/lanes/pause', { ...TENANT, reason: 'unpaid' })
    await api.post('/api/v1/lanes/limit', { ...TENANT, concurrency: 0 })
    const before = await gates()
    expect(before).toMatchObject([
      { kind: 'paused', rank: 'platform' },
      { kind: 'concurrency', rank: 'platform' },
    ])
    for (const [verb, body] of [
      ['resume', {}],
      ['resume', TENANT],
      ['pause', TENANT],
      ['limit', { ...TENANT, concurrency: 100 }],
      ['limit', { ...TENANT, concurrency: null }],
    ] as const) {
      const answer = await api.post(`/api/v1/lanes/${verb}`, body, own)
      expect([verb, answer.status, answer.body]).toMatchObject([verb, 403, { code: 'REPRISE_OUTRANKED' }])
    }
    expect(await gates()).toEqual(before)

    const narrower = { ...TENANT, action: 'render' }
    expect((await api.post('/api/v1/lanes/pause', narrower, own)).body).toEqual({ changed: true })
    expect((await api.post('/api/v1/lanes/resume', narrower, own)).body).toEqual({ changed: true })
    expect(await gates()).toEqual(before)

    expect((await api.post('/api/v1/lanes/resume', TENANT)).body).toEqual({ changed: true })
    expect((await api.post('/api/v1/lanes/limit', { ...TENANT, concurrency: null })).status).toBe(200)
    await api.post('/api/v1/lanes/pause', TENANT, own)
    expect(await gates()).toMatchObject([{ kind: 'paused', rank: 'tenant' }])
    expect((await api.post('/api/v1/lanes/resume', TENANT, own)).body).toEqual({ changed: true })
  },
)
