// The endpoint where a worker says whether it is well, and its place in the registry.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { defineAction } from '@reprise/worker'
import { expect, test } from 'vitest'
import { setUp } from './fixture.ts'

const noop = defineAction({ name: 'noop', run: () => {} })

test('C9: a worker with a health endpoint registers its address, and answers there while it runs', async () => {
  const hold = Promise.withResolvers<void>()
  const held = defineAction({ name: 'held', run: () => hold.promise })
  const { client, clock, engine, worker } = await setUp({ actions: [held], health: {} })
  const url = worker.endpoint ?? ''
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/healthz$/)
  expect((await engine.workers()).items).toMatchObject([{ worker: 'w1', endpoint: url }])
  await client.submit(held, null)
  await clock.advance(10)
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.json()).toEqual({ state: 'running', inFlight: 1, loopLagMs: 0 })
  const stopping = worker.stop()
  const draining = await fetch(url)
  expect(draining.status).toBe(503)
  expect(await draining.json()).toMatchObject({ state: 'draining' })
  hold.resolve()
  await stopping
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('it answers nothing else', async () => {
  const { worker } = await setUp({ actions: [noop], health: { host: 'localhost' } })
  const url = worker.endpoint ?? ''
  expect((await fetch(new URL('/', url))).status).toBe(404)
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(405)
  const head = await fetch(`${url}?verbose`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('C9: one that listens on every address is announced by the name of the host', async () => {
  const { engine, worker } = await setUp({ actions: [noop], health: { host: '0.0.0.0' }, host: 'w1.example' })
  expect(worker.endpoint).toMatch(/^http:\/\/w1\.example:\d+\/healthz$/)
  expect((await engine.workers()).items[0]?.endpoint).toBe(worker.endpoint)
})

test('an endpoint that is given is registered instead; without one there is none', async () => {
  const given = await setUp({ actions: [noop], health: {}, endpoint: 'https://workers.example/w1/healthz' })
  expect((await given.engine.workers()).items[0]?.endpoint).toBe('https://workers.example/w1/healthz')
  expect((await fetch(given.worker.endpoint ?? '')).status).toBe(200)
  const plain = await setUp({ actions: [noop] })
  expect((await plain.engine.workers()).items[0]?.endpoint).toBeNull()
  expect(plain.worker.endpoint).toBeNull()
})

test('a port that is taken is an error at the start', async () => {
  const other = createServer()
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await expect(setUp({ actions: [noop], health: { port } })).rejects.toThrow('EADDRINUSE')
  other.close()
})
