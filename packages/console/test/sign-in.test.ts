// Signing in at an issuer, in a real browser: back to the address that was opened, with the rights that the rules give. Who may
// only look sees no button; who is limited to a tenant sees it, and nothing of others on any page.

import { type OidcIssuer, startOidcIssuer } from '@reprise/test-servers'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, launch, type Seat, sit } from './browser.ts'
import { TRIED_PAGES } from './pages.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

const PEOPLE = {
  operator: { email: 'ann@example.com', sub: 'ann', name: 'Ann' },
  viewer: { email: 'vic@example.com', sub: 'vic', name: 'Vic' },
  limited: { email: 'tess@example.com', sub: 'tess', name: 'Tess' },
  stranger: { email: 'sam@elsewhere.com', sub: 'sam', name: 'Sam' },
} as const

/** Pages that who may only look can open. Those that need more rights in parts have tests of their own. */
const LOOKED_AT = TRIED_PAGES.filter(
  ({ name, isChange = false }) => !isChange && !/^(?:Settings|Policies|Journal|a webhook)/.test(name),
)

describe.runIf(hasBrowser)('A12: signing in at an issuer in a browser', () => {
  let issuer: OidcIssuer
  let shop: Shop
  let browser: Browser

  beforeAll(async () => {
    issuer = await startOidcIssuer()
    shop = await openShop({
      access: {
        env: 'production',
        signIn: { issuer: issuer.url, clientId: issuer.clientId },
        rules: [
          { email: PEOPLE.viewer.email, role: 'viewer' },
          { email: PEOPLE.limited.email, role: 'operator', tenants: ['acme'] },
          { domain: 'example.com', role: 'operator' },
        ],
      },
    })
    await haveBadDeploy(shop)
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await shop?.close()
    await issuer?.close()
  })

  /** Opens an address without a session and goes the way that the page offers. */
  async function seatOf(who: keyof typeof PEOPLE, path: string): Promise<Seat> {
    const seat = await sit(browser, shop.url, {}, [issuer.url])
    issuer.signInAs(PEOPLE[who])
    await seat.page.goto(`${shop.url}${path}`)
    await seat.page.getByText('You are not signed in.').waitFor()
    await seat.page.getByRole('link', { name: 'Sign in' }).click()
    return seat
  }

  test('leads to the issuer and back to the address that was opened, and out again', async () => {
    const seat = await seatOf('operator', '/failures?order=count')
    const { page, wrong } = seat
    await page.getByRole('grid', { name: 'Causes' }).getByText('ECONNREFUSED').first().waitFor()
    expect(page.url()).toBe(`${shop.url}/failures?order=count`)
    await page.getByText('Ann', { exact: true }).waitFor()
    expect(wrong).toEqual([])
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill('sign out')
    await page.keyboard.press('Enter')
    await page.getByText('You are not signed in.').waitFor()
    await page.goto(`${shop.url}/tasks`)
    await page.getByText('You are not signed in.').waitFor()
    await seat.close()
  })

  test('shows no button to who may only look, on any page', async () => {
    const seat = await seatOf('viewer', '/')
    const { page, wrong } = seat
    for (const { path, shows, name } of LOOKED_AT) {
      await page.goto(`${shop.url}${await path(shop)}`)
      await page.getByText(shows).first().waitFor()
      const buttons = await page.getByRole('main').getByRole('button').allTextContents()
      expect([name, buttons.filter((text) => text.trimEnd().endsWith('…') || text === 'Add')]).toEqual([name, []])
    }
    expect(wrong).toEqual([])
    await seat.close()
  })

  test('shows who is limited to a tenant nothing of others, on any page', async () => {
    const seat = await seatOf('limited', '/')
    const { page, wrong } = seat
    await page.getByText('Tess', { exact: true }).waitFor()
    const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').all()
    const paths = await Promise.all(links.map((link) => link.getAttribute('href')))
    expect(paths).toEqual(expect.arrayContaining(['/tasks', '/failures']))
    for (const path of paths) {
      await page.goto(`${shop.url}${path}`)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      await page
        .getByRole('main')
        .getByText(/^Reading /)
        .first()
        .waitFor({ state: 'detached' })
      const text = (await page.getByRole('main').textContent()) ?? ''
      expect([path, /\bblue\b|shop-[12]\b/.exec(text)?.[0]]).toEqual([path, undefined])
      expect([path, text]).not.toEqual([path, expect.stringContaining('could not be read')])
    }
    expect(wrong).toEqual([])
    await seat.close()
  })

  test('shows who is limited to a tenant the causes of the own dead letters, and no case to take on', async () => {
    const seat = await seatOf('limited', '/failures')
    const { page, wrong } = seat
    await page.getByText('20 dead tasks of 1 action have 1 cause').waitFor()
    await page.getByRole('link', { name: /ECONNREFUSED billing/ }).click()
    await page.getByText('Who is hit').waitFor()
    const buttons = await page.getByRole('main').getByRole('button').allTextContents()
    expect(buttons.filter((text) => text.endsWith('…'))).toEqual(['Redrive 20 …'])
    expect(wrong).toEqual([])
    await seat.close()
  })

  test('says what to do to who is known to the issuer, and has no right here', async () => {
    const seat = await seatOf('stranger', '/tasks')
    const { page } = seat
    await page
      .getByText(/may not|no right|not allowed|rule/i)
      .first()
      .waitFor()
    expect(await page.getByRole('navigation', { name: 'Pages' }).count()).toBe(0)
    await seat.close()
  })
})
