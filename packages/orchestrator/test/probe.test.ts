// Active probes (C9): who is asked, what counts as an answer, and what the store makes of it.

import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Engine, type ProbeReport, seededRandom } from '@reprise/core'
import { type Ask, createProbe, probeOnce, registrySnapshot } from '@reprise/orchestrator'
import { describe, expect, onTestFinished, test } from 'vitest'
import { beaten, joined, openStore } from './fixture.ts'

const never = new AbortController().signal

async function fleet(endpoints: Readonly<Record<string, string | null>>) {
  const store = await openStore()
  for (const [id, endpoint] of Object.entries(endpoints)) await joined(store.engine, id, { endpoint })
  return store
}

const verdicts = (reports: readonly ProbeReport[]) => Object.fromEntries(reports.map(({ worker, ok }) => [worker, ok]))

describe('C9: probes', () => {
  test('ask workers with an endpoint, not those about to stop, and tell the store', async () => {
    const { engine, clock } = await fleet({
      well: 'http://well/',
      ill: 'http://ill/',
      shy: null,
      going: 'http://going/',
    })
    const going = (await registrySnapshot(engine)).find(({ worker }) => worker === 'going')
    await beaten(engine, 'going', going?.epoch ?? 0, { draining: true })
    const ask: Ask = async (url) => url === 'http://well/'
    const probe = () => probeOnce({ engine, clock, random: seededRandom(1), ask }, never)
    expect(verdicts(await probe())).toEqual({ well: true, ill: false })
    await probe()
    const health = async () =>
      Object.fromEntries((await registrySnapshot(engine)).map((one) => [one.worker, one.health.status]))
    expect(await health()).toEqual({ going: 'healthy', ill: 'degraded', shy: 'healthy', well: 'healthy' })
    await probe()
    expect(await health()).toMatchObject({ ill: 'unhealthy', well: 'healthy' })
  })

  test('no answer in time is none, though its connection hangs on', async () => {
    const { engine, clock } = await fleet({ w1: 'http://w1/' })
    let signal: AbortSignal | undefined
    const ask: Ask = (_url, given) => {
      signal = given
      return new Promise(() => undefined)
    }
    const probing = probeOnce({ engine, clock, random: seededRandom(1), ask, timeoutMs: 2_000 }, never)
    await clock.advance(2_000)
    expect(verdicts(await probing)).toEqual({ w1: false })
    expect(signal?.aborted).toBe(true)
  })

  test('leave nothing behind on the signal of a service that runs for long', async () => {
    const { engine, clock } = await fleet({ w1: 'http://w1/', w2: 'http://w2/', w3: 'http://w3/' })
    const service = new AbortController()
    const left: number[] = []
    const signals: AbortSignal[] = []
    const ask: Ask = async (url, signal) => {
      signals.push(signal)
      left.push(getEventListeners(service.signal, 'abort').length)
      if (url === 'http://w3/') throw new Error('ECONNREFUSED')
      return true
    }
    for (let round = 0; round < 5; round++) await probeOnce({ engine, clock, ask, concurrency: 1 }, service.signal)
    expect(left).toEqual(Array.from({ length: 15 }, () => 1))
    expect(getEventListeners(service.signal, 'abort')).toEqual([])
    expect(clock.nextAt()).toBeNull()
    // Signals that follow another one are kept by it for as long as somebody listens: none is left to do so.
    service.abort()
    expect(signals.map(({ aborted }) => aborted)).not.toContain(true)
  })

  test('one that throws is no answer', async () => {
    const { engine, clock } = await fleet({ w1: 'http://w1/' })
    const ask: Ask = () => Promise.reject(new Error('ECONNREFUSED'))
    expect(verdicts(await probeOnce({ engine, clock, ask }, never))).toEqual({ w1: false })
  })

  test.each(['file:///etc/passwd', 'ftp://host/', 'javascript:1', 'not an address'])(
    'never asks %s',
    async (endpoint) => {
      const { engine, clock } = await openStore()
      const seen: Engine = {
        ...engine,
        workers: async (page) => {
          const { items } = await engine.workers(page)
          return { items: items.map((one) => ({ ...one, endpoint })), next: null }
        },
      }
      await joined(engine, 'w1')
      const asked: string[] = []
      const ask: Ask = async (url) => {
        asked.push(url)
        return true
      }
      expect(verdicts(await probeOnce({ engine: seen, clock, ask }, never))).toEqual({ w1: false })
      expect(asked).toEqual([])
    },
  )

  test('asks so many at once, and no more', async () => {
    const { engine, clock } = await fleet(
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`w${index}`, `http://w${index}/`])),
    )
    let atOnce = 0
    let maxAtOnce = 0
    const ask: Ask = async () => {
      maxAtOnce = Math.max(maxAtOnce, ++atOnce)
      await new Promise((resolve) => setImmediate(resolve))
      atOnce--
      return true
    }
    expect(await probeOnce({ engine, clock, ask, concurrency: 4 }, never)).toHaveLength(20)
    expect(maxAtOnce).toBe(4)
  })

  test('by itself it asks over HTTP, follows no redirect, and reads no answer', async () => {
    const paths: string[] = []
    const server = createServer((request, response) => {
      paths.push(request.url ?? '')
      if (request.url === '/moved') response.writeHead(302, { location: '/well' }).end()
      else if (request.url === '/ill') response.writeHead(503).end()
      // An answer without an end.
      else response.writeHead(200).write('x')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { engine } = await fleet({ well: `${base}/well`, moved: `${base}/moved`, ill: `${base}/ill` })
    expect(verdicts(await probeOnce({ engine }, never))).toEqual({ well: true, moved: false, ill: false })
    expect(paths.toSorted()).toEqual(['/ill', '/moved', '/well'])
  })

  test('go on, about every 10 s, and a stop cuts them short without a report', async () => {
    const { engine, clock } = await fleet({ w1: 'http://w1/' })
    let asks = 0
    const ask: Ask = async () => {
      asks++
      return asks < 7 ? true : new Promise<boolean>(() => undefined)
    }
    const service = createProbe({ engine, clock, random: seededRandom(1), ask })
    await service.start()
    await clock.advance(60_000)
    expect(asks).toBeGreaterThanOrEqual(5)
    expect(asks).toBeLessThanOrEqual(8)
    while (asks < 7) await clock.advance(1_000)
    await service.stop()
    expect((await registrySnapshot(engine))[0]?.probeFailures).toBe(0)
    expect(clock.nextAt()).toBeNull()
  })
})
