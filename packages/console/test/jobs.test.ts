// Jobs in a real browser: how far one is, which chunks failed and of what, and what an operator does about it.

import { silentLogger } from '@reprise/core'
import { createWorker, defineAction } from '@reprise/worker'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { openShop, type Shop } from './shop.ts'

/** Two of forty pages can not be rendered, until the font is there. */
const fonts = { isThere: false }

const render = defineAction({
  name: 'page.render',
  retry: { max: 0 },
  run: async (page: number): Promise<string> => {
    if (page % 20 === 7 && !fonts.isThere) throw new Error('The font <b>Gill</b> is missing.')
    return `page ${page}`
  },
})

describe.runIf(hasBrowser)('jobs in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat
  let worker: { stop(): Promise<void> }

  const statusOf = async (id: string): Promise<string> => (await shop.client.getJob({ id })).status

  beforeAll(async () => {
    shop = await openShop()
    worker = await createWorker({ engine: shop.engine, actions: [render], log: silentLogger, sweep: false })
    const range = { to: 40 }
    await shop.client.startJob({ id: 'book', name: 'the book', action: 'page.render', range, onFailure: 'continue' })
    await vi.waitUntil(async () => (await statusOf('book')) === 'failed', { timeout: 30_000 })
    await shop.client.startJob({ id: 'nobody', action: 'page.bind', range: { to: 3 }, tenant: 'acme' })
    browser = await launch()
    seat = await sit(browser, shop.url)
    await signIn(seat, await shop.link())
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await worker?.stop()
    await shop?.close()
  })

  test('the list says how far each one is, and a job opens', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/jobs`)
    await page.getByText('1 job is under way.').waitFor()
    await page.getByRole('button', { name: /Stopped or failed/ }).click()
    expect(new URL(page.url()).searchParams.get('which')).toBe('stopped')
    await page.getByRole('row').filter({ hasText: 'the book' }).click()
    await page.getByText('40 of 40 chunks ended, 2 of them failed.').waitFor()
  })

  test('chunks show as a grid, and those that failed by cause, with markup as text', async () => {
    const { page } = seat
    await page.getByRole('img', { name: 'Chunks 0 to 39: 38 succeeded, 2 failed, 0 running, 0 waits' }).waitFor()
    const causes = page.getByRole('list', { name: 'Causes' })
    await causes.getByText('The font <b>Gill</b> is missing.').waitFor()
    expect(await causes.getByRole('link', { name: /^(?:7|27)$/ }).allTextContents()).toEqual(['7', '27'])
    const grid = page.getByRole('img', { name: /Chunks 0 to 39/ })
    const box = await grid.boundingBox()
    await grid.hover({ position: { x: ((box?.width ?? 0) * 7.5) / 40, y: (box?.height ?? 0) / 2 } })
    await page.getByText('chunk 7: dead, The font <b>Gill</b> is missing.').waitFor()
  })

  test('failed chunks run again with a reason, and the job succeeds', async () => {
    const { page } = seat
    fonts.isThere = true
    await page.getByRole('button', { name: 'Retry the failed …' }).click()
    await page.getByLabel('Reason, for the journal').fill('the font is there')
    await page.getByText("reprise job retry book --reason 'the font is there'").waitFor()
    await page.getByRole('button', { name: 'Retry 2 chunks' }).click()
    await page.getByText('40 of 40 chunks ended.').waitFor()
    await page
      .getByText(/retried by|the font is there/)
      .first()
      .waitFor()
    expect(await shop.client.getJob({ id: 'book' })).toMatchObject({ status: 'succeeded', failed: 0, succeeded: 40 })
  })

  test('a job that nobody works on is cancelled', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/jobs/nobody`)
    await page.getByRole('button', { name: 'Cancel …' }).click()
    await page.getByRole('button', { name: 'Cancel the job' }).click()
    await expect.poll(() => statusOf('nobody'), { timeout: 30_000 }).toBe('cancelled')
  })

  test('who is limited to a tenant sees its jobs alone; who may only look sees no button', async () => {
    const { token } = await shop.client.createToken({ name: 'acme', scopes: ['read'], tenants: ['acme'] })
    const limited = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    await limited.page.goto(`${shop.url}/jobs`)
    await limited.page.getByRole('row').filter({ hasText: 'page.bind' }).click()
    await limited.page.getByText('What it is').waitFor()
    expect(await limited.page.getByRole('button', { name: /…$/ }).count()).toBe(0)
    expect(await limited.page.getByText('the book').count()).toBe(0)
    expect(limited.wrong).toEqual([])
    await limited.close()
  })

  test('nothing was refused by the content policy', () => {
    expect(seat.wrong).toEqual([])
  })
})
