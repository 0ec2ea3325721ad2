// Policies in a real browser: a draft is checked at its place and tried out beside the version in force, published with a reason,
// and taken back; who may only look changes nothing.

import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

const FIRST = 'policies:\n  - name: everything\n    template: default\n'
const TRIED = '/policies?action=order.confirm&code=ECONNRESET'

describe.runIf(hasBrowser)('policies in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat

  beforeAll(async () => {
    shop = await openShop()
    await haveBadDeploy(shop)
    await shop.client.publishPolicies({ text: FIRST, reason: 'to begin with' })
    browser = await launch()
    seat = await sit(browser, shop.url)
    await signIn(seat, await shop.link())
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await shop?.close()
  })

  const inForce = async (): Promise<number | undefined> => (await shop.client.policies()).version?.number

  test('a mistake in a draft is told at its place, and the draft can not be published', async () => {
    const { page } = seat
    await page.goto(`${shop.url}${TRIED}`)
    await page.getByText(/Version 1 is in force/).waitFor()
    await page.getByText(/Dead after 4 attempts/).waitFor()
    await page.getByRole('textbox', { name: 'Text of the policies' }).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('    retries: many')
    await page.getByText('✕ A draft with 1 mistake.').waitFor()
    await page
      .getByRole('list', { name: 'Problems' })
      .getByText(/Line 4, character 14/)
      .waitFor()
    expect(await page.locator('.cm-lintRange-error').textContent()).toBe('many')
    expect(await page.getByRole('button', { name: 'Publish …' }).isDisabled()).toBe(true)
  })

  test('what could come next is offered', async () => {
    const { page } = seat
    await page.keyboard.press('Enter')
    await page.keyboard.type('temp')
    await page.getByRole('option', { name: /template/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+Backspace')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('End')
    await page.keyboard.press('Control+Backspace')
    await page.keyboard.type('7')
    await page.getByText('✓ A draft without mistakes.').waitFor()
    expect(await page.locator('.cm-lintRange-error').count()).toBe(0)
  })

  test('a draft is tried on an invented and on recorded failures, beside the version in force', async () => {
    const { page } = seat
    await page
      .getByRole('region', { name: 'Your draft' })
      .getByText(/Dead after 8 attempts/)
      .waitFor()
    await page
      .getByRole('region', { name: 'Version 1, in force' })
      .getByText(/Dead after 4 attempts/)
      .waitFor()
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText(/tasks failed\. Your draft would have recovered/).waitFor()
    await page.getByRole('row', { name: /your draft/ }).waitFor()
    expect(await inForce()).toBe(1)
  })

  test('it is published with a reason after a look at the difference, and taken back', async () => {
    const { page } = seat
    await page.getByRole('button', { name: 'Publish …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('2 lines come, 1 line goes').waitFor()
    await dialog.getByLabel('Reason').fill('more patience')
    await dialog.getByText("policy publish retry-policies.yaml --expected 1 --reason 'more patience'").waitFor()
    await dialog.getByRole('button', { name: 'Publish version 2' }).click()
    await page.getByText(/Version 2 is in force/).waitFor()
    expect((await shop.client.policies()).version).toMatchObject({
      number: 2,
      reason: 'more patience',
      by: 'local:admin',
    })
    const { items } = await shop.client.listEvents({ actor: 'local:admin', type: 'note', newest: true })
    expect(items[0]?.data.reason).toBe('Version 2 of the policies counts from now on: more patience')
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(/Version 3 is in force/).waitFor()
    expect((await shop.client.policies()).version?.text).toBe(FIRST)
  })

  test('an older version comes back by a roll back', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/policies?tab=history`)
    await page.getByRole('row').filter({ hasText: 'more patience' }).click()
    expect(new URL(page.url()).searchParams.get('version')).toBe('2')
    await page.getByText('What version 3, in force, says otherwise').waitFor()
    await page.getByRole('button', { name: 'Roll back to it …' }).click()
    await page.getByLabel('Reason').fill('it was right')
    await page.getByText('npx reprise policy show 2 | npx reprise policy publish - --expected 3').waitFor()
    await page.getByRole('button', { name: 'Publish it as version 4' }).click()
    await expect.poll(inForce).toBe(4)
    expect((await shop.client.policies()).version?.text).toContain('retries: 7')
  })

  test('who writes while somebody else publishes is told, and overwrites nothing', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/policies`)
    await page.getByText(/Version 4 is in force/).waitFor()
    await page.getByRole('textbox', { name: 'Text of the policies' }).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('# mine')
    await shop.client.publishPolicies({ text: `${FIRST}# theirs\n` })
    await page.getByText(/Version 5 came in while you wrote/).waitFor()
    expect(await page.getByRole('button', { name: 'Publish …' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Drop the draft' }).click()
    await page.getByText('# theirs').waitFor()
  })

  test('who may only look reads the text, tries it out, and is offered no change', async () => {
    const { token } = await shop.client.createToken({ name: 'looks', role: 'viewer' })
    const viewer = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    await viewer.page.goto(`${shop.url}${TRIED}`)
    await viewer.page.getByText(/Dead after/).waitFor()
    await viewer.page.getByRole('textbox', { name: 'Text of the policies, to read' }).waitFor()
    expect(await viewer.page.getByRole('button', { name: /Publish|Drop/ }).count()).toBe(0)
    await viewer.page.goto(`${shop.url}/policies?tab=history&version=2`)
    await viewer.page.getByRole('dialog').getByText('more patience').waitFor()
    expect(await viewer.page.getByRole('button', { name: /Roll back/ }).count()).toBe(0)
    expect(viewer.wrong).toEqual([])
    await viewer.close()
  })

  test('the editor keeps within the content policy', () => {
    // A draft with a mistake is refused, which the browser tells as well.
    expect(seat.wrong.filter((line) => !line.includes('status of 400'))).toEqual([])
  })
})
