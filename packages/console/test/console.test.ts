// The fast core of the console's tests, in a real browser on a real server: it is served as promised, lets nobody in who is not
// known, answers the question of its first page, and can be used with the keyboard.

import { AxeBuilder } from '@axe-core/playwright'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

if (!hasBrowser) process.stderr.write('No Chromium here: the tests of the console in a browser are left out.\n')

describe.runIf(hasBrowser)('the console in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat

  beforeAll(async () => {
    shop = await openShop()
    await haveBadDeploy(shop)
    browser = await launch()
    seat = await sit(browser, shop.url)
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await shop?.close()
  })

  test('says how to get in to somebody without a session, at the address that they opened', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/tasks?q=status%3Adead`)
    await page.getByText('You are not signed in.').waitFor()
    expect(page.url()).toBe(`${shop.url}/tasks?q=status%3Adead`)
  })

  test('after the one-time link shows Now, which names what needs somebody', async () => {
    const { page } = seat
    await signIn(seat, await shop.link())
    await page.getByText(/things? needs? you/).waitFor()
    const needs = page.getByRole('list', { name: 'What needs you' })
    await expect.poll(() => needs.textContent()).toContain('connect ECONNREFUSED billing:443')
    expect(await page.getByText('✓ adds up').count()).toBe(1)
  })

  test('goes to a page by the palette and by two keys, and comes back with Back', async () => {
    const { page } = seat
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('now')
    await page.getByRole('option', { name: /Now/ }).first().waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${shop.url}/?minutes=15`)
    await page.getByRole('button', { name: '15 m', pressed: true }).waitFor()
    await page.getByRole('button', { name: '6 h' }).click()
    expect(new URL(page.url()).searchParams.get('minutes')).toBe('360')
    await page.goBack()
    await page.getByRole('button', { name: '15 m', pressed: true }).waitFor()
  })

  test('leads from Now to a cause, which says what its failures have and successes do not', async () => {
    const { page } = seat
    await page.goto(shop.url)
    await page.getByRole('link', { name: /ECONNREFUSED billing/ }).click()
    await page.getByRole('heading', { level: 1, name: /ECONNREFUSED billing/ }).waitFor()
    await page.getByText(/% of these have .*% of the successes do/).waitFor()
    await expect.poll(() => page.getByRole('region', { name: 'Who is hit' }).textContent()).toContain('acme')
  })

  test('a cause is taken on with a reason, and that is taken back with undo', async () => {
    const { page } = seat
    await page.keyboard.press('a')
    await page.getByLabel('Reason, for the journal').fill('on it')
    await page.getByText(/groups ack [0-9a-f]+ --reason 'on it'/).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText('taken on', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Taken back:').waitFor()
    await page.getByText('open', { exact: true }).waitFor()
    const { items } = await shop.client.listEvents({ type: 'group.acknowledged' })
    expect(items.map(({ data }) => [data.actor, data.reason])).toEqual([['local:admin', 'on it']])
  })

  test('a redrive is planned, started and followed to its end, in the browser alone', async () => {
    const { page } = seat
    const worker = await shop.deploy('3')
    await page.keyboard.press('r')
    await page.getByLabel('Reason, for the journal').fill('fixed in 3')
    await page.getByRole('button', { name: 'Check what would happen' }).click()
    await page.getByText(/20 tasks would run again/).waitFor()
    await page.getByRole('button', { name: 'Start: 20 tasks' }).click()
    await page.getByText('20 of 20 tasks recovered.').waitFor()
    await worker.stop()
    const { dead } = await shop.client.counts()
    expect(dead).toBe(3)
    await page.getByRole('button', { name: 'Close' }).click()
  })

  test('intruder 4: shows markup in an error as text', async () => {
    const { page } = seat
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.getByText('<img src=x onerror').first().waitFor()
    await page.getByText('<img src=x onerror').first().click()
    await page.getByRole('heading', { level: 1, name: /<img src=x/ }).waitFor()
    expect(await page.title()).toContain('<img src=x')
    expect(await page.locator('main img').count()).toBe(0)
  })

  test('finds tasks by a query, opens one with the keyboard alone, and says where a query is wrong', async () => {
    const { page } = seat
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.getByRole('combobox', { name: 'Query' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('status:succeeded')
    await page.keyboard.press('Enter')
    await page.getByText(/tasks are like that/).waitFor()
    expect(new URL(page.url()).searchParams.get('q')).toBe('status:succeeded')
    await page.getByRole('grid', { name: 'Tasks' }).getByRole('row').nth(1).focus()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByText(/It succeeded at its first attempt|It succeeded after/).waitFor()
    await page.goBack()
    await page.getByRole('combobox', { name: 'Query' }).fill('statu:dead')
    await page.getByText(/At character 1/).waitFor()
  })

  test('a viewer sees no button that would be refused', async () => {
    const { token } = await shop.client.createToken({ name: 'viewer', role: 'viewer' })
    const viewer = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    await viewer.page.goto(`${shop.url}/failures`)
    await viewer.page.getByText('<img src=x onerror').first().click()
    await viewer.page.getByText('Who is hit').waitFor()
    expect(await viewer.page.getByRole('button', { name: /Redrive|Acknowledge|Resolve|Ignore|Add/ }).count()).toBe(0)
    expect(viewer.wrong).toEqual([])
    await viewer.close()
  })

  test('who is limited to a tenant sees its tasks, and no sign of others', async () => {
    const { token } = await shop.client.createToken({ name: 'acme', role: 'operator', tenants: ['acme'] })
    const limited = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    await limited.page.goto(`${shop.url}/tasks`)
    await limited.page.getByRole('grid', { name: 'Tasks' }).getByText('acme').first().waitFor()
    expect(await limited.page.getByText('blue').count()).toBe(0)
    // What is left dead is of the other tenant.
    await limited.page.getByRole('link', { name: 'Failures' }).click()
    await limited.page.getByText('Nothing has failed for good.').waitFor()
    expect(limited.wrong).toEqual([])
    await limited.close()
  })

  test('has nothing that axe objects to', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/failures`)
    await page.getByRole('grid', { name: 'Causes' }).waitFor()
    const { violations } = await new AxeBuilder({ page }).analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([])
  })

  test('intruder 4: keeps within its content policy, and asks nobody but its own server', () => {
    expect(seat.wrong).toEqual([])
  })
})

test('the page is asked for each time, what it loads is kept for ever, and a wrong path of the API is no page', async () => {
  const shop = await openShop()
  try {
    const page = await fetch(`${shop.url}/failures/1234`, { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    expect(page.headers.get('cache-control')).toBe('no-cache')
    expect(page.headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'")
    const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text()) ?? []
    const asset = await fetch(`${shop.url}${script}`, { headers: { 'accept-encoding': 'br' } })
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(asset.headers.get('content-encoding')).toBe('br')
    const home = await fetch(`${shop.url}/`)
    expect(await home.text()).toContain('<div id="root">')
    for (const path of ['/api/v1/nothing', '/assets/nothing.js', '/auth/nothing', '/internal/x']) {
      const wrong = await fetch(`${shop.url}${path}`, { headers: { accept: 'text/html' } })
      expect([path, wrong.status]).toEqual([path, 404])
    }
    const program = await fetch(`${shop.url}/failures`, { headers: { accept: 'application/json' } })
    expect(program.status).toBe(404)
    expect((await fetch(`${shop.url}/failures`, { method: 'POST', headers: { accept: 'text/html' } })).status).toBe(404)
  } finally {
    await shop.close()
  }
})
