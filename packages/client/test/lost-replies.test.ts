// A real server behind a proxy that loses replies, cuts answers off and ends streams: nothing is submitted twice, nothing is
// lost, and what is followed goes on.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LiveEvent } from '@reprise/client'
import { expect, onTestFinished, test } from 'vitest'
import { endAll } from './fixture.ts'
import { serve, startHttpProxy } from './served.ts'

test('fault 7: a submission whose reply was lost is there once, and counts as accepted', async () => {
  const { url, connect } = await serve()
  const proxy = await startHttpProxy(url)
  const client = await connect({ url: proxy.url })
  proxy.treat = (method, _path, earlier) => (method === 'POST' && earlier === 0 ? 'lose' : 'pass')
  const drawn = await client.submit('sum', 1)
  expect(drawn.accepted).toBe(true)
  proxy.treat = (method, _path, earlier) => (method === 'POST' && earlier === 2 ? 'lose' : 'pass')
  const given = await client.submit('sum', 1, { id: 'mine' })
  expect(given.accepted).toBe(true)
  expect((await client.submit('sum', 1, { id: 'mine' })).accepted).toBe(false)
  expect((await client.counts()).accepted).toBe(2)
  expect(proxy.seen.filter((line) => line === 'POST /api/v1/tasks')).toHaveLength(5)
})

test('many submissions whose answer was lost or cut off are each there once, and all count as accepted', async () => {
  const { url, connect } = await serve()
  const proxy = await startHttpProxy(url)
  const client = await connect({ url: proxy.url })
  const treatments = ['lose', 'cut', 'pass'] as const
  proxy.treat = (method, _path, earlier) => (method === 'POST' ? (treatments[earlier] ?? 'pass') : 'pass')
  const tasks = await client.submitMany('sum', Array(50).fill(0), (_, index) =>
    index % 2 === 0 ? {} : { id: `t${index}` },
  )
  expect(tasks.map(({ accepted }) => accepted)).toEqual(Array(50).fill(true))
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(50)
  expect((await client.counts()).accepted).toBe(50)
  expect(proxy.seen.filter((line) => line === 'POST /api/v1/tasks/bulk')).toHaveLength(3)
})

test('A8: a retry whose reply was lost is not made a second time', async () => {
  const { url, connect } = await serve()
  const proxy = await startHttpProxy(url)
  const client = await connect({ url: proxy.url })
  proxy.treat = (method) => (method === 'POST' ? 'lose' : 'pass')
  await expect(client.retryExecution({ id: 't1' })).rejects.toMatchObject({ code: 'REPRISE_UNREACHABLE' })
  expect(proxy.seen.filter((line) => line === 'POST /api/v1/executions/t1/retry')).toHaveLength(1)
})

test('B12: an export that is cut off says so: it never looks complete', async () => {
  const { url, connect } = await serve()
  const proxy = await startHttpProxy(url)
  const client = await connect({ url: proxy.url })
  await client.submitMany('sum', [1, 2, 3])
  proxy.treat = (method) => (method === 'GET' ? 'cut' : 'pass')
  const exported: unknown[] = []
  const reading = (async () => {
    for await (const task of client.exportTasks()) exported.push(task)
  })()
  await expect(reading).rejects.toMatchObject({ code: 'REPRISE_UNREACHABLE' })
  expect(exported).toEqual([])
})

test('waiting for a result outlives broken connections', async () => {
  const { engine, url, connect } = await serve()
  const proxy = await startHttpProxy(url)
  const client = await connect({ url: proxy.url })
  const task = await client.submit('sum', 1)
  const result = task.result({ timeout: '60s' })
  const polls = (): number => proxy.seen.filter((line) => line.startsWith('GET /api/v1/tasks/')).length
  await expect.poll(polls, { timeout: 60_000 }).toBe(1)
  proxy.cutAll()
  await expect.poll(polls, { timeout: 60_000 }).toBe(2)
  await endAll(engine, 'done')
  expect(await result).toBe('done')
})

test('events are followed across broken connections, and none is missed', async () => {
  const { client: direct, url, connect } = await serve()
  const proxy = await startHttpProxy(url)
  const client = await connect({ url: proxy.url, random: { next: () => 0 } })
  const end = new AbortController()
  const { cursor } = await direct.listEvents()
  const events = client.watch({ cursor, types: ['lanes.*'], signal: end.signal })

  const seen: unknown[] = []
  for (const tenant of ['a', 'b', 'c']) {
    await direct.pauseLanes({ tenant })
    let event: LiveEvent
    do {
      event = (await events.next()).value as LiveEvent
      seen.push(event.data.details.tenant)
    } while (event.data.details.tenant !== tenant)
    proxy.cutAll()
  }
  // This store has a cursor behind every event: none comes again either.
  expect(seen).toEqual(['a', 'b', 'c'])
  expect(proxy.seen.filter((line) => line === 'GET /api/v1/events/stream').length).toBeGreaterThanOrEqual(3)
  end.abort()
  expect((await events.next()).done).toBe(true)
})

test('a stream that is switched off, or refused, is not opened again and again', async () => {
  const { client, connect } = await serve()
  await client.setFlag({ name: 'audit-streaming', on: false })
  await expect(client.watch().next()).rejects.toMatchObject({ code: 'REPRISE_FEATURE_OFF' })
  const stranger = await connect({ token: 'rpt_nobody' })
  await expect(stranger.watch().next()).rejects.toMatchObject({ code: 'REPRISE_UNAUTHENTICATED' })
})

test('intruder 7: a redirect is not followed, so that no token goes elsewhere', async () => {
  const { url: elsewhere, connect } = await serve()
  const proxy = await startHttpProxy(elsewhere)
  const moved = createServer((_, reply) => reply.writeHead(307, { location: `${proxy.url}/api/v1/counts` }).end())
  await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void moved.close())
  const client = await connect({ url: `http://127.0.0.1:${(moved.address() as AddressInfo).port}` })
  await expect(client.counts()).rejects.toMatchObject({ code: 'REPRISE_UNREACHABLE' })
  expect(proxy.seen).toEqual([])
})
