// Claims that do not reach their worker, or would not fit into an answer: nothing stays leased to somebody who never heard of it.

import { connect, type Socket } from 'node:net'
import type { Engine, JsonText } from '@reprise/core'
import { expect, test } from 'vitest'
import { type Api, type Lease, SQLITE, STORES, startApi } from './fixture.ts'

interface Who {
  readonly worker: string
  readonly epoch: number
  readonly pools: readonly string[]
}

async function register(api: Api, worker: string): Promise<Who> {
  const pools = ['default']
  const registered = await api.post('/api/v1/workers', { worker, pools }, { token: api.tokens.worker })
  return { worker, epoch: (registered.body as { readonly epoch: number }).epoch, pools }
}

async function claim(api: Api, who: Who, over: object): Promise<readonly Lease[]> {
  const claims = await api.post('/api/v1/claims', { ...who, ...over }, { token: api.tokens.worker })
  return (claims.body as { readonly claimed: readonly Lease[] }).claimed
}

/** Asks as `claim` does, on a connection that the test holds in its hand. */
function claimBySocket(api: Api, who: Who, over: object): Socket {
  const { hostname, port } = new URL(api.url)
  const body = JSON.stringify({ ...who, ...over })
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  const head = [
    'POST /api/v1/claims HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${api.tokens.worker}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  return socket
}

const LARGE = 'x'.repeat(1_000_000)

test.each(STORES)('intruder 8: a claim gives no more than an answer can carry, on $name', async (store) => {
  const api = await startApi(store)
  for (let number = 0; number < 12; number++) await api.post('/api/v1/tasks', { action: 'a', payload: LARGE })
  const claimed = await claim(api, await register(api, 'w1'), { limit: 1_000, waitMs: 0 })
  expect(claimed).toHaveLength(8)
  expect((await api.get('/api/v1/counts')).body).toMatchObject({ running: 8, queued: 4 })
  const rest = await claim(api, await register(api, 'w2'), { limit: 1_000, waitMs: 0 })
  expect(rest.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
})

test.each(STORES)('C11: a worker that is not well gets what a policy lets it have, on $name', async (store) => {
  const api = await startApi(store)
  const text = 'policies:\n  - { name: on-call, match: { actions: [urgent] }, health_aware: false }\n'
  await api.send('PUT', '/api/v1/policies', { body: { text } })
  for (const action of ['urgent', 'usual']) await api.post('/api/v1/tasks', { id: action, action })
  const who = await register(api, 'w1')
  const { worker, epoch } = who
  await api.post(
    `/api/v1/workers/${worker}/beat`,
    { epoch, inFlight: 0, queueDepth: 100 },
    { token: api.tokens.worker },
  )
  const actions = ['urgent', 'usual']
  expect(await claim(api, who, { limit: 5, waitMs: 0, actions: ['usual'] })).toEqual([])
  expect((await claim(api, who, { limit: 5, waitMs: 0, actions })).map(({ taskId }) => taskId)).toEqual(['urgent'])
  await api.post('/api/v1/tasks', { id: 'again', action: 'urgent' })
  // Of one that takes any action, too.
  expect((await claim(api, who, { limit: 5, waitMs: 0 })).map(({ taskId }) => taskId)).toEqual(['again'])
})

test('a claim of many small tasks gives as many as were asked for', async () => {
  const api = await startApi(SQLITE)
  const tasks = Array.from({ length: 250 }, (_, number) => ({ id: `t${number}`, action: 'a' }))
  for (const task of tasks) await api.post('/api/v1/tasks', task)
  const who = await register(api, 'w1')
  expect(await claim(api, who, { limit: 240, waitMs: 0 })).toHaveLength(240)
  expect(await claim(api, who, { limit: 240, waitMs: 0 })).toHaveLength(10)
})

test('A3: what can not be put into an answer is given back at once', async () => {
  const inner = await SQLITE.open()
  let isBroken = true
  const engine: Engine = {
    ...inner,
    async claim(request) {
      const result = await inner.claim(request)
      if (!isBroken) return result
      const broken = (one: (typeof result.claimed)[number]) => ({
        ...one,
        snapshot: { ...one.snapshot, payload: '{' as JsonText },
      })
      return { ...result, claimed: result.claimed.map(broken) }
    },
  }
  const api = await startApi(SQLITE, { engine })
  await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
  const who = await register(api, 'w1')
  const failed = await api.post('/api/v1/claims', { ...who, waitMs: 0 }, { token: api.tokens.worker })
  expect(failed.status).toBe(500)
  isBroken = false
  expect(await claim(api, who, { waitMs: 0 })).toMatchObject([{ taskId: 't1', attempt: 1 }])
})

test.each(STORES)('A3: a worker that goes away just before the answer loses nothing, on $name', async (store) => {
  const inner = await store.open()
  let leaving: Socket | null = null
  const engine: Engine = {
    ...inner,
    async claim(request) {
      const result = await inner.claim(request)
      // The last moment: the server has the task, and has not heard that its worker is gone.
      if (result.claimed.length > 0) leaving?.destroy()
      return result
    },
  }
  const api = await startApi(store, { engine })
  const [who, other] = [await register(api, 'w1'), await register(api, 'w2')]
  await api.post('/api/v1/tasks', { id: 't1', action: 'a' })
  leaving = claimBySocket(api, who, { waitMs: 0, leaseMs: 600_000 })
  await new Promise((resolve) => leaving?.once('close', resolve))
  leaving = null
  expect(await claim(api, other, { waitMs: 20_000 })).toMatchObject([{ taskId: 't1', attempt: 1 }])
})

test.each(STORES)('A3: a worker that goes away amid the answer loses nothing, on $name', async (store) => {
  const api = await startApi(store)
  const [who, other] = [await register(api, 'w1'), await register(api, 'w2')]
  for (let number = 0; number < 8; number++) await api.post('/api/v1/tasks', { action: 'a', payload: LARGE })
  const leaving = claimBySocket(api, who, { limit: 8, waitMs: 0, leaseMs: 600_000 })
  await new Promise((resolve) => leaving.once('readable', resolve))
  // The answer has begun, and is larger than what the system takes off the server's hands.
  leaving.destroy()
  const seen: Lease[] = []
  while (seen.length < 8) seen.push(...(await claim(api, other, { limit: 8, waitMs: 20_000 })))
  expect(seen.map(({ attempt }) => attempt)).toEqual(Array(8).fill(1))
})

test('a slow worker keeps what it was given, however long it takes to read it', async () => {
  const api = await startApi(SQLITE)
  const who = await register(api, 'w1')
  for (let number = 0; number < 8; number++) await api.post('/api/v1/tasks', { action: 'a', payload: LARGE })
  const slow = claimBySocket(api, who, { limit: 8, waitMs: 0 })
  await new Promise((resolve) => slow.once('readable', resolve))
  expect((await api.get('/api/v1/counts')).body).toMatchObject({ running: 8, queued: 0 })
  let text = ''
  slow.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (text.endsWith('}')) slow.end()
  })
  await new Promise((resolve) => slow.once('close', resolve))
  expect(text.match(/"taskId"/g)).toHaveLength(8)
  expect((await api.get('/api/v1/counts')).body).toMatchObject({ running: 8, queued: 0 })
})
