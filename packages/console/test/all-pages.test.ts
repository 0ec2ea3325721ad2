// Every page, in light and dark, wide and narrow: shown with its data, nothing that axe objects to, nothing wider than the screen,
// no error, nothing refused by the content policy. `npm run test:console`; `npm test` leaves it out.

import { AxeBuilder } from '@axe-core/playwright'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, type Seat, signIn, sit } from './browser.ts'
import { TRIED_PAGES } from './pages.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

describe.runIf(process.env.REPRISE_CONSOLE === '1')('every page of the console', () => {
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

  for (const { name, path, shows } of TRIED_PAGES) {
    for (const width of [1440, 360]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        test(`${name}, ${colorScheme}, ${width} px`, async () => {
          const { page, wrong } = seat
          wrong.length = 0
          await page.setViewportSize({ width, height: 800 })
          await page.emulateMedia({ colorScheme })
          await page.goto(`${shop.url}${await path(shop)}`)
          await page.getByText(shows).first().waitFor()
          const { violations } = await new AxeBuilder({ page }).analyze()
          expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`)).toEqual([])
          expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
          expect(wrong).toEqual([])
        })
      }
    }
  }

  test('a viewer is offered no change on any page, and nothing of it is refused', async () => {
    const { token } = await shop.client.createToken({ name: 'viewer', role: 'viewer' })
    const viewer = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    const { page, wrong } = viewer
    for (const { name, path, shows, isChange } of TRIED_PAGES) {
      if (isChange === true) continue
      await page.goto(`${shop.url}${await path(shop)}`)
      await page.getByText(shows).or(page.getByText('You may not see these settings.')).first().waitFor()
      const offered = (await page.getByRole('button').allTextContents()).filter((text) => CHANGES.test(text.trimEnd()))
      expect([name, offered, wrong]).toEqual([name, [], []])
    }
    await viewer.close()
  }, 120_000)
})

/** Words of buttons that change something: they ask first, or send what was typed. */
const CHANGES = /…$|^(Comment|Add|Make it|Publish|Check what would happen)$/
