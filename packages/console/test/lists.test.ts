// Lists in a real browser: with the keyboard alone from a fresh page, with the selection in the address, and on a phone with the
// text that matters in full width. And the charts beside them: marks that come after the values are drawn.

import type { Browser, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

/** For what a busy machine takes its time over. */
const PATIENCE = { timeout: 30_000 }

describe.runIf(hasBrowser)('lists and charts in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat

  beforeAll(async () => {
    shop = await openShop()
    await haveBadDeploy(shop)
    const areOpened = async (): Promise<boolean> =>
      (await shop.client.listFailureGroups({})).items.every((group) => group.case !== undefined)
    await vi.waitUntil(areOpened, { timeout: 30_000 })
    await shop.client.pauseLanes({ action: 'invoice.render', reason: 'The printer is out of paper.' })
    browser = await launch()
    seat = await sit(browser, shop.url)
    await signIn(seat, await shop.link())
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await shop?.close()
  })

  const selectedIn = (address: string): string[] => new URL(address).searchParams.get('selected')?.split(',') ?? []

  test('keys move in a list without a click into it, select, and open; a colleague gets the selection', async () => {
    const { page } = seat
    await page.goto(shop.url)
    await page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    const rows = page.getByRole('grid', { name: 'Tasks' }).getByRole('row')
    await rows.nth(1).waitFor()
    await page.keyboard.press('j')
    await page.locator('[role=row][data-index="0"]:focus').waitFor()
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.locator('[role=row][data-index="1"]:focus').waitFor()
    await page.keyboard.press('x')
    await page.getByText('2 tasks selected.').waitFor()
    expect(selectedIn(page.url())).toHaveLength(2)
    await page.reload()
    await page.getByText('2 tasks selected.').waitFor()
    await page.getByRole('button', { name: 'Select all 65 that match' }).click()
    await page.reload()
    await page.getByText('All 65 that match are selected.').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    expect(selectedIn(page.url())).toEqual([])
    await rows.nth(1).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByText('Timeline').waitFor()
    await page.goBack()
    await rows.nth(1).waitFor()
  })

  test('a row is explained or redriven by its key, which the help names', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/tasks?q=status:queued`)
    await page.getByRole('grid', { name: 'Tasks' }).getByRole('row').nth(1).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Explain the task of the row').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('e')
    await page.getByText('What holds it').waitFor()
    await page.goto(`${shop.url}/failures?order=count`)
    await page.getByRole('grid', { name: 'Causes' }).getByRole('row').nth(1).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('r')
    await expect.poll(() => page.getByRole('dialog').textContent(), PATIENCE).toContain('Redrive 20 dead letters')
  })

  test('nothing moves under the pointer: new rows wait, and those that are there keep their order', async () => {
    const { page } = seat
    const keys = (): Promise<string[]> =>
      page.evaluate<string[]>(
        "[...document.querySelectorAll('[role=row][data-key]')].slice(0, 5).map((row) => row.dataset.key)",
      )
    await page.goto(`${shop.url}/tasks`)
    await page.locator('[role=row][data-index="1"]').hover()
    const before = await keys()
    await shop.client.submitMany('invoice.render', [{ order: 200 }, { order: 201 }])
    await page.getByRole('button', { name: '2 new rows: show' }).waitFor()
    expect(await keys()).toEqual(before)
    await page.getByRole('button', { name: '2 new rows: show' }).click()
    await expect.poll(async () => (await keys()).slice(2), PATIENCE).toEqual(before.slice(0, 3))

    await page.goto(`${shop.url}/failures`)
    await page.locator('[role=row][data-index="1"]').hover()
    const causes = await keys()
    expect(causes).toHaveLength(2)
    const isPoison = (await page.locator('[role=row][data-index="1"]').textContent())?.includes('no customer') === true
    const worker = await shop.deploy('2')
    await shop.client.submit('order.confirm', { order: 300, region: 'eu', ...(isPoison ? {} : { customer: 'last' }) })
    const show = page.getByRole('button', { name: 'Others, or in another order: show' })
    await show.waitFor()
    expect(await keys()).toEqual(causes)
    await show.click()
    await expect.poll(keys, PATIENCE).toEqual(causes.toReversed())
    await worker.stop()
  })

  test('a cause says with which version it began', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/failures`)
    const refused = page.getByRole('row').filter({ hasText: 'ECONNREFUSED' })
    await refused.getByRole('gridcell', { name: '2', exact: true }).waitFor()
    await refused.click()
    await expect.poll(() => page.getByText('began with version 2').count(), PATIENCE).toBe(1)
  })

  test('what can be done on a page is in the palette', async () => {
    const { page } = seat
    for (const [path, action] of [
      ['/lanes', 'Pause everything'],
      ['/lanes?tenant=acme', 'Limit tenant acme'],
      ['/audit', 'Check the record'],
      ['/tasks', 'Select all that match'],
    ] as const) {
      await page.goto(`${shop.url}${path}`)
      await page.getByRole('navigation', { name: 'Pages' }).waitFor()
      await page.keyboard.press('Control+k')
      await expect.poll(() => page.getByRole('option', { name: action }).count(), PATIENCE).toBe(1)
      await page.keyboard.press('Escape')
    }
  })

  test('on a phone, what a row says has the whole width', async () => {
    const { page } = seat
    await page.setViewportSize({ width: 360, height: 740 })
    for (const path of ['/journal', '/alerts', '/failures', '/work-orders', '/audit', '/incidents']) {
      await page.goto(`${shop.url}${path}`)
      const row = page.getByRole('row').nth(1)
      await row.getByRole('gridcell').first().waitFor()
      const widest = async (): Promise<number> => {
        const cells = await row.getByRole('gridcell').all()
        const widths = await Promise.all(cells.map(async (cell) => (await cell.boundingBox())?.width ?? 0))
        return Math.max(...widths) / ((await row.boundingBox())?.width ?? 1)
      }
      await expect.poll(widest, { message: path }).toBeGreaterThan(0.8)
      const cut = await page.evaluate<string[]>(
        "[...document.querySelectorAll('[role=gridcell]')].filter((cell) => cell.getBoundingClientRect().right > cell.parentElement.getBoundingClientRect().right + 1).map((cell) => cell.textContent)",
      )
      expect([path, cut]).toEqual([path, []])
    }
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test('marks that come after the values are drawn at once', async () => {
    const { page } = seat
    const held: Route[] = []
    let isHeld = true
    await page.route('**/api/v1/events?*', async (route) => (isHeld ? void held.push(route) : route.continue()))
    await page.goto(shop.url)
    const picture = (): Promise<string> => page.evaluate<string>("document.querySelector('canvas').toDataURL()")
    await page.locator('canvas').first().waitFor()
    await expect.poll(() => held.length, PATIENCE).toBeGreaterThan(0)
    // Nothing else draws it from here on.
    await page.route(/api\/v1\/(series|counts)/, () => undefined)
    const before = await picture()
    isHeld = false
    await Promise.all(held.map((route) => route.continue()))
    await page.getByRole('list', { name: 'What changed' }).waitFor()
    await expect.poll(picture, PATIENCE).not.toBe(before)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('nothing was refused by the content policy, and nothing was asked elsewhere', () => {
    expect(seat.wrong).toEqual([])
  })
})
