// A store that is away: requests say so soon, and name the store. The engine itself would go on trying for much longer here, so
// that only the patience of the server can end a request.

import type { Engine } from '@reprise/core'
import { openRedisEngine } from '@reprise/engine-redis'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'
import { type Api, SQLITE, startApi } from './fixture.ts'

const FOREVER_MS = 3_600_000
/** Short, so that the test is. */
const storePatienceMs = 400

async function apiOnRedis(): Promise<{ readonly api: Api; readonly redis: RedisServer }> {
  const redis = await startRedis({ appendonly: true, appendfsync: 'always' })
  onTestFinished(() => redis.stop())
  const patience = { patienceMs: FOREVER_MS, commandTimeoutMs: FOREVER_MS }
  const open = (): Promise<Engine> => openRedisEngine({ url: redis.url, ...patience })
  return { redis, api: await startApi({ name: 'redis', open }, { storePatienceMs }) }
}

const away = {
  status: 503,
  body: { code: 'REPRISE_STORE_BUSY', detail: expect.stringContaining('The store (Redis) does not answer.') as string },
}
const task = { action: 'greet', payload: {} }

test('6: a Redis that is frozen is named in a 503 by looks, changes, submissions, sign-in and /readyz', async () => {
  const { api, redis } = await apiOnRedis()
  redis.pause()
  onTestFinished(() => redis.resume())
  expect(await api.get('/api/v1/counts')).toMatchObject(away)
  // Its own 502 is about the outside queue. The command line repeats that for long, and so waited here.
  expect(await api.get('/api/v1/queue')).toMatchObject(away)
  expect(await api.post('/api/v1/tasks', task)).toMatchObject(away)
  expect(await api.post('/api/v1/lanes/pause', { action: 'greet', reason: 'x' })).toMatchObject(away)
  const stranger = `rpr_${'a'.repeat(16)}_${'b'.repeat(64)}`
  expect(await api.get('/api/v1/me', { token: stranger })).toMatchObject(away)
  expect(await api.get('/readyz', { token: null })).toMatchObject({
    status: 503,
    body: { because: expect.stringContaining('The store (Redis) does not answer') as string },
  })
  redis.resume()
  expect(await api.get('/api/v1/counts')).toMatchObject({ status: 200 })
})

test('6: so is a Redis that was killed, and requests go on once it is back', async () => {
  const { api, redis } = await apiOnRedis()
  await redis.kill()
  expect(await api.get('/api/v1/counts')).toMatchObject(away)
  expect(await api.post('/api/v1/tasks', task)).toMatchObject(away)
  await redis.restart()
  // The link comes back when it next tries.
  let answer = await api.get('/api/v1/counts')
  while (answer.status === 503) answer = await api.get('/api/v1/counts')
  expect(answer.status).toBe(200)
})

test('6: a store that is slow and alive is waited for', async () => {
  const inner = await SQLITE.open()
  let looks = 0
  let isSlow = false
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const engine = new Proxy(inner, {
    get(target, key) {
      if (key === 'now')
        return () => {
          // It was suspected several times, and answered each time.
          if (isSlow && ++looks === 5) release()
          return inner.now()
        }
      if (key === 'counts')
        return async (query?: never) => {
          if (isSlow) await released
          return inner.counts(query)
        }
      return Reflect.get(target, key) as unknown
    },
  })
  const api = await startApi(SQLITE, { engine, storePatienceMs })
  isSlow = true
  expect(await api.get('/api/v1/counts')).toMatchObject({ status: 200 })
  expect(looks).toBeGreaterThanOrEqual(5)
})
