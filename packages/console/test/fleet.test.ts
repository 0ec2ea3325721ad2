// Workers, lanes and breakers in a real browser: what they show is what the store has, changes ask for a reason and show their
// command, and who may only look sees no button.

import { silentLogger } from '@reprise/core'
import { createWorker, defineAction } from '@reprise/worker'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

describe.runIf(hasBrowser)('workers, lanes and breakers in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat
  let worker: { stop(): Promise<void> }

  beforeAll(async () => {
    shop = await openShop()
    await haveBadDeploy(shop)
    await shop.client.limitLanes({ action: 'invoice.render', concurrency: 0, reason: 'The printer is out of paper.' })
    await haveOutage(shop)
    worker = await shop.deploy('3')
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

  test('the fleet in one sentence, a worker with its evidence, and those that left', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/workers`)
    await page.getByText('1 worker of 1 version on 1 host: all healthy.').waitFor()
    await page.getByRole('row').filter({ hasText: 'shop-3' }).click()
    expect(new URL(page.url()).searchParams.get('worker')).toBe('shop-3')
    await page.getByRole('dialog').getByText('it has ended nothing yet').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Left in the last day' }).click()
    await page.getByRole('row').filter({ hasText: 'shop-2' }).waitFor()
  })

  test('a worker is drained after a look at what that means', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/workers?worker=shop-3`)
    await page.getByRole('button', { name: 'Drain …' }).click()
    await page.getByText('Nothing else takes work from the pool').waitFor()
    await page.getByLabel('Reason, for the journal').fill('Its machine goes.')
    await page.getByText("reprise workers drain shop-3 --reason 'Its machine goes.'").waitFor()
    await page.getByRole('button', { name: 'Drain the worker' }).click()
    await page.getByText('shop-3 finishes what it runs and takes nothing new.').waitFor()
    // It is told at its next heartbeat.
    const isDraining = async (): Promise<boolean> => (await shop.client.getWorker({ id: 'shop-3' })).draining
    await expect.poll(isDraining, { timeout: 30_000 }).toBe(true)
  })

  test('lanes say what holds them; a pause is about the scope of the address, told before, and undone', async () => {
    const { page } = seat
    const held = await gatesOf(shop)
    await page.goto(`${shop.url}/lanes?tenant=acme`)
    await page.getByRole('button', { name: /Pause\s*tenant acme/ }).click()
    await page.getByText(/Holds tenant acme: 1 lane with 0 tasks/).waitFor()
    await page.getByLabel('Reason, for the journal').fill('Acme moves house.')
    await page.getByText("reprise lanes pause --tenant acme --reason 'Acme moves house.'").waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    const holds = page.getByRole('list', { name: 'Holds' })
    await holds.getByText(/Paused by .*: Acme moves house\./).waitFor()
    expect(await gatesOf(shop)).toEqual(['acme paused', ...held])
    await page.getByRole('button', { name: 'Undo' }).click()
    await holds.waitFor({ state: 'detached' })
    expect(await gatesOf(shop)).toEqual(held)
  })

  test('a full limit is told with its figures, and lifted', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/lanes?which=held`)
    await page.getByText(/6 tasks wait and 0 run .* 2 lanes are held, with 6 tasks\./).waitFor()
    await page.getByText('0 of at most 0 run, a limit of the platform').first().waitFor()
    await page.getByRole('button', { name: 'Change …' }).click()
    await page.getByText('reprise lanes limit none --action invoice.render').waitFor()
    expect(await page.getByRole('button', { name: 'Lift the limit' }).isEnabled()).toBe(false)
    await page.getByLabel('Reason, for the journal').fill('There is paper.')
    await page.getByRole('button', { name: 'Lift the limit' }).click()
    await page.getByText('No limit any more: action invoice.render.').waitFor()
    expect(await gatesOf(shop)).toEqual(['default breaker'])
  })

  test('a breaker is closed with a reason', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/breakers`)
    await page.getByText(/Breaker dependency:stripe of default is open/).waitFor()
    await page.getByRole('button', { name: 'Close it …' }).click()
    await page.getByText('reprise breakers reset dependency:stripe --tenant default').waitFor()
    await page.getByLabel('Reason, for the journal').fill('Stripe says that it is back.')
    await page.getByRole('button', { name: 'Close the breaker' }).click()
    await page.getByText('dependency:stripe of default is closed.').waitFor()
    const { items } = await shop.client.listBreakers({ tenant: 'default' })
    expect(items.filter(({ state }) => state.status !== 'closed')).toEqual([])
  })

  test('who may only look sees no button that would be refused', async () => {
    const viewer = await seatOf({ scopes: ['read'] })
    await shop.client.pauseLanes({ tenant: 'acme', reason: 'For a look.' })
    for (const [path, shows] of [
      ['/lanes', 'For a look.'],
      ['/workers?worker=shop-3', 'What we know of it'],
      ['/breakers', /breaker/],
    ] as const) {
      await viewer.page.goto(`${shop.url}${path}`)
      await viewer.page.getByText(shows).first().waitFor()
      expect([path, await changesOn(viewer.page)]).toEqual([path, []])
    }
    await viewer.close()
  })

  test('who is limited to a tenant sees its lanes, no worker and nobody else', async () => {
    const limited = await seatOf({ scopes: ['read', 'operate'], tenants: ['blue'] })
    await limited.page.goto(`${shop.url}/lanes`)
    await limited.page.getByRole('row').filter({ hasText: 'order.confirm' }).waitFor()
    expect(await limited.page.getByText('acme').count()).toBe(0)
    expect(await limited.page.getByRole('link', { name: 'Workers' }).count()).toBe(0)
    expect(await limited.page.getByRole('button', { name: 'Pools' }).count()).toBe(0)
    expect(limited.wrong).toEqual([])
    await limited.close()
  })

  test('nothing was refused by the content policy, and nothing was asked elsewhere', () => {
    expect(seat.wrong).toEqual([])
  })

  async function seatOf(rights: { scopes: ('read' | 'operate')[]; tenants?: string[] }): Promise<Seat> {
    const { token } = await shop.client.createToken({ name: `seat-${rights.scopes.join('-')}`, ...rights })
    return sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
  }
})

/** Stripe is down: the breaker of the tenant opens, and stays open. */
async function haveOutage({ engine, client }: Shop): Promise<void> {
  const charge = defineAction({
    name: 'card.charge',
    uses: ['stripe'],
    breaker: { minFailures: 1, open: '1h', maxOpen: '1h' },
    run: async (): Promise<string> => {
      throw Object.assign(new Error('connect ECONNREFUSED stripe:443'), { code: 'ECONNREFUSED' })
    },
  })
  const worker = await createWorker({ engine, id: 'till', actions: [charge], log: silentLogger, sweep: false })
  await client.submit(charge, {})
  const isOpen = async (): Promise<boolean> =>
    (await client.listBreakers({})).items.some(({ state }) => state.status === 'open')
  await vi.waitUntil(isOpen, { timeout: 30_000 })
  await worker.stop()
}

async function gatesOf({ client }: Shop): Promise<string[]> {
  const { items } = await client.listLanes({})
  return items.flatMap(({ tenant, gates }) => gates.map(({ kind }) => `${tenant} ${kind}`)).sort()
}

/** The buttons that open a question before a change: their words end in dots. */
const changesOn = async (page: Page): Promise<string[]> =>
  (await page.getByRole('button').allTextContents()).filter((text) => text.trimEnd().endsWith('…'))
