// The live light in a real browser: it says so when the server is away, and what happened meanwhile is there when it is back.

import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, launch, type Seat, sit } from './browser.ts'
import { openShop, type Shop } from './shop.ts'

describe.runIf(hasBrowser)('the live light in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat
  let way: Way

  beforeAll(async () => {
    shop = await openShop()
    way = await openWay(Number(new URL(shop.url).port))
    browser = await launch()
    const { token } = await shop.client.createToken({ name: 'looker', role: 'viewer' })
    seat = await sit(browser, way.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await way?.close()
    await shop?.close()
  })

  test('a server that is away is told, and one that is back', async () => {
    const { page } = seat
    await page.goto(`${way.url}/journal?type=lanes.*`)
    await page.getByText('● live', { exact: true }).waitFor()
    await way.close()
    await page.getByText('✕ not live').waitFor()
    await shop.client.pauseLanes({ tenant: 'acme', reason: 'Acme moves house.' })
    await way.open()
    await page.getByText('● live', { exact: true }).waitFor()
    await page.getByText('Acme moves house.').waitFor()
    expect(await page.getByText('✕ not live').count()).toBe(0)
  })

  test('a page that is opened meanwhile says why it is empty, and fills when the server is back', async () => {
    const { page } = seat
    await page.goto(`${way.url}/journal`)
    await page.getByText('● live', { exact: true }).waitFor()
    await way.close()
    await page.getByText('✕ not live').waitFor()
    // Its program may not be in this browser's memory.
    await page.getByRole('link', { name: 'Breakers' }).click()
    await page.getByText(/The server does not answer|The server did not give out its program/).waitFor()
    await way.open()
    const again = page.getByRole('button', { name: 'Load it again' })
    const there = page.getByText('Nothing is held by a breaker.')
    await again.or(there).first().waitFor()
    if (await again.isVisible()) await again.click()
    await there.waitFor()
    expect(await page.getByText('✕').count()).toBe(0)
  })
})

interface Way {
  readonly url: string
  readonly open: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A way to a port that can be cut and opened again, at the same address. */
async function openWay(to: number): Promise<Way> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((here) => {
    const there = connect(to, '127.0.0.1')
    for (const [one, other] of [
      [here, there],
      [there, here],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  const open = (port: number): Promise<void> => new Promise((opened) => server.listen(port, '127.0.0.1', opened))
  await open(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    open: () => open(port),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        for (const socket of sockets) socket.destroy()
        sockets.clear()
      }),
  }
}
