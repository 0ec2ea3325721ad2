// Names with characters that nobody sees: refused for what is new, while what has got one before can be read and removed. On both
// engines.

import {
  DEFAULT_SETTINGS,
  encodeJson,
  type RetryToken,
  type TaskId,
  type TaskSpec,
  type TenantId,
  type WorkerId,
} from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { STORES, startApi } from './fixture.ts'

const UNSEEN = ['\u202e', '\u2066', '\u200b', '\u200d', '\ufeff', '\u0085', '\u001b']

describe.each(STORES)('$name', (store) => {
  test('nothing new gets a name that can not be seen whole', async () => {
    const api = await startApi(store)
    for (const unseen of UNSEEN) {
      const name = `na${unseen}me`
      const fields = [
        { action: name },
        { action: 'render', id: name },
        { action: 'render', tenant: name },
        { action: 'render', pool: name },
        { action: 'render', labels: { [name]: 'x' } },
        { action: 'render', labels: { x: name } },
        { action: 'render', dedupeKey: name },
        { action: 'render', retryToken: name },
        { action: 'render', affinityKey: name },
      ]
      const answers = [
        ...(await Promise.all(fields.map((submission) => api.post('/api/v1/tasks', submission)))),
        await api.post('/api/v1/tokens', { name, role: 'viewer' }),
        await api.post('/api/v1/tokens', { name: 'x', role: 'viewer', tenants: [name] }),
        await api.post('/api/v1/workers', { worker: name, pools: ['default'] }, { token: api.tokens.worker }),
      ]
      for (const { status, text } of answers) {
        expect(status).toBe(400)
        expect(text).toMatch(/nobody sees \(U\+[0-9a-f]{4}\)|control character/)
      }
    }
    expect((await api.get('/api/v1/counts')).body).toMatchObject({ accepted: 0 })
  })

  test('what has such a name from before is found, shown, changed and removed by it', async () => {
    const api = await startApi(store)
    const odd = 'od\u200bd\u202e'
    const spec: TaskSpec = {
      id: odd as TaskId,
      action: odd as TaskSpec['action'],
      pool: odd as TaskSpec['pool'],
      tenant: odd as TenantId,
      payload: encodeJson({}, 'payload'),
      labels: { [odd]: odd },
      priority: 5,
      settings: DEFAULT_SETTINGS,
      retryToken: odd as RetryToken,
      dedupeKey: odd,
      deadlineAt: null,
      delayMs: 0,
      dueAt: null,
      deadlineMs: null,
    }
    await api.engine.submit([spec])
    const worker = odd as WorkerId
    const about = { pools: [spec.pool], actions: null, host: 'h', version: '1', runtimes: [], endpoint: null }
    await api.engine.register({ worker, ...about })
    const path = `/api/v1/tasks/${encodeURIComponent(odd)}`
    expect((await api.get(path)).body).toMatchObject({ id: odd, tenant: odd, labels: { [odd]: odd } })
    const scope = new URLSearchParams({ pool: odd, action: odd, tenant: odd }).toString()
    expect((await api.get(`/api/v1/lanes?${scope}`)).body).toMatchObject({ items: [{ pool: odd }] })
    expect((await api.get(`/api/v1/tasks?q=${encodeURIComponent(`id:${odd}`)}`)).body).toMatchObject({ items: [{}] })
    expect((await api.get(`/api/v1/events?task=${encodeURIComponent(odd)}`)).status).toBe(200)
    expect((await api.get(`/api/v1/workers/${encodeURIComponent(odd)}`)).body).toMatchObject({ worker: odd })
    expect((await api.post(`/api/v1/workers/${encodeURIComponent(odd)}/drain`, {})).status).toBe(200)
    expect((await api.post('/api/v1/notes', { task: odd, text: 'look' })).status).toBe(201)
    expect((await api.post('/api/v1/lanes/pause', { tenant: odd })).status).toBe(200)
    expect((await api.post('/api/v1/lanes/resume', { tenant: odd })).body).toEqual({ changed: true })
    expect((await api.post(`${path}/cancel`, {})).body).toMatchObject({ state: { status: 'cancelled' } })
  })
})
