// What a tired reader gets to read, in a real browser: a query that is completed and underlined where it is wrong, an error with its
// own frames first, an entry of the journal that says what was done, and a cause of which nothing ever succeeded.

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

describe.runIf(hasBrowser)('what is read in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat

  beforeAll(async () => {
    shop = await openShop()
    await haveBadDeploy(shop)
    browser = await launch()
    seat = await sit(browser, shop.url)
    await signIn(seat, await shop.link())
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await shop?.close()
  })

  test('a query is completed with the keyboard alone', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/tasks`)
    const field = page.getByRole('combobox', { name: 'Query' })
    await field.waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('stat')
    await page.getByRole('option', { name: 'status:' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Tab')
    expect(await field.inputValue()).toBe('status:')
    await page.keyboard.type('de')
    await page.getByRole('option', { name: 'dead' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect((await field.inputValue()).trim()).toBe('status:dead')
    await page.keyboard.press('Enter')
    await page.getByText('23 tasks are like that.').waitFor()
  })

  test('a mistake is underlined where it is, also in a query that is longer than its field', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/tasks`)
    await page.getByRole('combobox', { name: 'Query' }).fill('statu:dead')
    const line = page.locator('[data-mistake]')
    expect(await line.textContent()).toBe('statu:dead')
    await page.keyboard.press('/')
    await page.keyboard.press('Control+A')
    await page.keyboard.type(`action:${'long'.repeat(60)} agee>1h`)
    await expect.poll(() => line.textContent()).toBe('agee>1h')
    const [under, field] = [await line.boundingBox(), await page.getByRole('combobox').boundingBox()]
    if (under === null || field === null) throw new Error('Both are shown.')
    expect(under.x).toBeGreaterThan(field.x)
    expect(under.x + under.width).toBeLessThan(field.x + field.width)
    await page.goto(`${shop.url}/tasks?q=statu:dead`)
    await page.getByText('The query has a mistake: nothing was asked.').waitFor()
  })

  test('an error shows its own frames, and those of others when they are asked for', async () => {
    const { page } = seat
    const { items } = await shop.client.listTasks({ q: 'status:dead', limit: 1 })
    await page.goto(`${shop.url}/tasks/${items[0]?.id}`)
    const frames = page.getByRole('region', { name: 'Frames' })
    await frames.waitFor()
    expect(await frames.textContent()).toContain('shop.ts')
    expect(await frames.textContent()).not.toContain('packages/worker/src')
    await page.getByRole('button', { name: /frames? of others/ }).click()
    expect(await frames.textContent()).toContain('packages/worker/src')
    await page.getByRole('button', { name: 'Own code only' }).click()
    expect(await frames.textContent()).not.toContain('packages/worker/src')
  })

  test('what is copied is copied, also where the browser has no clipboard for pages', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/tasks?q=status:dead`)
    await page.getByRole('grid', { name: 'Tasks' }).waitFor()
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await page.evaluate("document.addEventListener('copy', () => { window.copied = document.activeElement.value })")
    await page.locator('[role=row][data-index="0"]').click()
    await page.getByRole('button', { name: 'Copy id' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('window.copied')).toBe(decodeURIComponent(page.url().split('/').at(-1) ?? ''))
    expect(await page.locator('textarea').count()).toBe(0)
  })

  test('the journal says what was done, beside why', async () => {
    const { page } = seat
    await shop.client.createWebhook({ url: 'https://8.8.8.8/in', types: ['reprise.breaker.*'] })
    await page.goto(`${shop.url}/journal?type=operation.*`)
    await page.getByText('createWebhook: asked for by the client').waitFor()
    expect(await page.getByText(/^1 entry in the last 24 h; none by an operator\.$/).count()).toBe(1)
  })

  test('a cause of which nothing succeeded says how many died, since when, and what they share', async () => {
    const { page } = seat
    const { items } = await shop.client.listFailureGroups({ order: 'count' })
    await page.route('**/failure-groups/*/cause*', async (route) => {
      const answer = await route.fetch()
      const told = (await answer.json()) as object
      await route.fulfill({ response: answer, json: { ...told, contrasts: [], summary: 'There are 0 successes.' } })
    })
    await page.goto(`${shop.url}/failures/${items[0]?.fingerprint}`)
    await page.getByText(/^20 tasks of order\.confirm died since .*, all with tenant acme, version 2\.$/).waitFor()
    expect(await page.getByText('There are 0 successes.').count()).toBe(1)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('on a phone a task says why it is dead, and when it came in', async () => {
    const { page } = seat
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${shop.url}/tasks?q=status:dead`)
    const row = page.locator('[role=row][data-index="0"]')
    await expect.poll(() => row.textContent()).toMatch(/ECONNREFUSED|no customer/)
    const [time, cell] = await Promise.all([
      row.locator('time').boundingBox(),
      row
        .getByRole('gridcell')
        .filter({ has: page.locator('time') })
        .boundingBox(),
    ])
    expect(time?.width).toBeLessThanOrEqual(cell?.width ?? 0)
    await page.getByRole('combobox', { name: 'Views' }).selectOption('Running')
    await page.getByText('No task is like that.').first().waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('status:running')
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test('nothing was refused by the content policy, and nothing was asked elsewhere', () => {
    expect(seat.wrong).toEqual([])
  })
})
