// Breakers over HTTP for callers who are limited to tenants: they see and reset their own, and learn nothing of neighbours.

import { describe, expect, test } from 'vitest'
import { type Api, claimOne, declare, STORES, startApi } from './fixture.ts'

const RESET = '/api/v1/breakers/dependency%3Abank/reset'

async function fail(api: Api, tenant: string): Promise<void> {
  await api.post('/api/v1/tasks', { action: 'pay', tenant })
  const { taskId, attempt, token } = await claimOne(api)
  const error = { code: 'ECONNRESET', message: 'Refused.' }
  const settlements = [{ taskId, attempt, token, outcome: 'failed', error }]
  await api.post('/api/v1/settlements', { settlements }, { token: api.tokens.worker })
}

type Shown = {
  readonly items: readonly { readonly tenant: string | null; readonly state: { readonly status: string } }[]
}

async function seen(api: Api, token: string): Promise<string[]> {
  const { body } = await api.get('/api/v1/breakers', { token })
  return (body as Shown).items.map(({ tenant, state }) => `${tenant ?? '*'} ${state.status}`)
}

describe.each(STORES)('on $name', (store) => {
  test('a limited caller sees its own breakers, and of that of all tenants only that it is there and until when', async () => {
    const api = await startApi(store)
    const breaker = { minFailures: 2, open: '1h' }
    await declare(api, {
      name: 'pay',
      uses: ['bank'],
      breaker,
      retry: { max: 3, backoff: { kind: 'fixed', delay: '1h' } },
    })
    for (const tenant of ['loud', 'loud', 'quiet']) await fail(api, tenant)
    expect(await seen(api, api.tokens.operator)).toEqual(['* open', 'loud open', 'quiet closed'])
    const quiet = await api.tokenFor('operator', ['quiet'])
    expect(await seen(api, quiet)).toEqual(['* open', 'quiet closed'])
    expect((await api.get('/api/v1/breakers', { token: quiet })).text).not.toContain('loud')
    expect((await api.get('/api/v1/breakers?tenant=loud', { token: quiet })).status).toBe(404)
    expect((await api.post(RESET, { tenant: 'loud' }, { token: quiet })).status).toBe(404)
    expect((await api.post(RESET, {}, { token: quiet })).body).toEqual({ changed: true })
    expect((await api.post(RESET, {}, { token: quiet })).body).toEqual({ changed: false })
    expect(await seen(api, api.tokens.operator)).toEqual(['* open', 'loud open'])
    expect((await api.post(RESET, { tenant: 'loud' })).body).toEqual({ changed: true })
    expect(await seen(api, api.tokens.operator)).toEqual(['* open'])
    expect((await api.post(RESET, {})).body).toEqual({ changed: true })
    expect(await seen(api, api.tokens.operator)).toEqual([])
  })
})
