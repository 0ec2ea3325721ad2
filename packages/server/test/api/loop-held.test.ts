// What somebody planted holds up nobody when it is shown or changed: by the watch on the event loop, which tells work from waiting.
// Requests are sent once before, small: what is done for the first time takes longer.

import { expect, test } from 'vitest'
import { type Answered, type Api, STORES, startApi } from './fixture.ts'

/** Of the processor, in one turn of the loop. Many times what is promised: machines differ, and what was mended took far more. */
const WORK_MS_MAX = 100

const DIGITS = '4 '.repeat(2_000)
const EVENTS = { 'content-type': 'application/cloudevents-batch+json' }
const LINES = { 'content-type': 'application/x-ndjson' }

const reports = (count: number, from: number, data: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => ({
      specversion: '1.0',
      type: 'task.execution.failed',
      source: '/planted',
      id: `e${from + index}`,
      data: { errorCode: 'E', idempotencyKey: `k${from + index}`, ...data },
    })),
  )

interface Planted {
  readonly api: Api
  /** Of the attacker's tenant. */
  readonly token: string
}

const ATTACKS: Readonly<Record<string, (planted: Planted, count: number) => Promise<Answered>>> = {
  'reports about one task': async ({ api, token }, count) => {
    const raw = reports(count, 0, { taskId: 't1', retryable: true })
    return api.send('POST', '/api/v1/events', { token, raw, headers: EVENTS })
  },
  'failure groups of digits': async ({ api, token }, count) => {
    const raw = reports(count, 1_000, { action: 'dies', errorMessage: DIGITS, retryable: false })
    await api.send('POST', '/api/v1/events', { token, raw, headers: EVENTS })
    return api.get(`/api/v1/failure-groups?limit=${count}`, { token: api.tokens.viewer })
  },
  'events of one tenant': ({ api, token }, count) => api.get(`/api/v1/events?limit=${10 * count}`, { token }),
  'a cancel of many': async ({ api, token }, count) => {
    const lines = Array.from({ length: 10 * count }, () => JSON.stringify({ action: 'bulk', pool: 'nobody' }))
    await api.send('POST', '/api/v1/tasks/bulk', { token, raw: lines.join('\n'), headers: LINES })
    return api.post('/api/v1/tasks/cancel', { tenant: 'acme', action: 'bulk', limit: 1_000 }, { token })
  },
}

test.each(STORES)('intruder 13: no request holds the loop by what was planted for it ($name)', async (store) => {
  const api = await startApi(store, { tenantRules: { acme: { submitsPerSecond: null } } })
  const token = await api.tokenFor('admin', ['acme'])
  await api.post('/api/v1/tasks', { action: 'nobody', id: 't1', pool: 'nobody' }, { token })
  const worked: Record<string, number> = {}
  for (const count of [5, 100]) {
    for (const [name, attack] of Object.entries(ATTACKS)) {
      api.server.loop.forget()
      const { status, text } = await attack({ api, token }, count)
      // What is refused, or finds nothing, costs nothing either.
      expect([name, status, text.length > 30 * count]).toEqual([name, 200, true])
      worked[name] = api.server.loop.read().maxWorkMs
    }
  }
  const slow = Object.entries(worked).filter(([, ms]) => ms > WORK_MS_MAX)
  expect(slow).toEqual([])
})
