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

  test('has nothing that axe objects to, in light and in dark', async () => {
    const { page } = seat
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const { violations } = await new AxeBuilder({ page }).analyze()
      expect(
        violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map((node) => node.html).join(' ')}`),
      ).toEqual([])
    }
    await page.emulateMedia({ colorScheme: null })
  })

  test('keeps within its content policy, and asks nobody but its own server', () => {
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
