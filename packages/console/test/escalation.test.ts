// What people do when they are called, in a real browser: alerts that are acknowledged and silenced, the rules behind them, and the
// channels that are told.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { changesOn, hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

describe.runIf(hasBrowser)('alerts in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat
  const received: string[] = []
  const receiver = createServer((request, response) => {
    received.push(String(request.url))
    response.end('thanks')
  })

  beforeAll(async () => {
    await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
    shop = await openShop({ webhookAllow: ['127.0.0.1'] })
    await haveBadDeploy(shop)
    const fire = async (): Promise<boolean> =>
      (await shop.client.listAlerts({ status: 'firing', rule: 'dead_letters' })).items.length === 2
    await vi.waitUntil(fire, { timeout: 30_000 })
    browser = await launch()
    seat = await sit(browser, shop.url)
    await signIn(seat, await shop.link())
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await shop?.close()
    await new Promise((closed) => receiver.close(closed))
  })

  test('the first page says which alerts fire, and how much is not done', async () => {
    const { page } = seat
    await page.goto(shop.url)
    const cause = page
      .getByRole('list', { name: 'What needs you' })
      .getByRole('listitem')
      .filter({ hasText: 'ECONNREFUSED' })
    await cause.getByText('normal alert, nobody is at it').waitFor()
    // 23 that died, and 5 that nobody takes.
    await page
      .getByRole('figure', { name: 'Backlog: live and dead' })
      .getByText(/not done 28$/)
      .waitFor()
    const other = await shop.client.putAlertRule({ name: 'nightly', metric: 'no_success', action: 'report.nightly' })
    await page.getByText('high alert of nightly, nobody is at it').click({ timeout: 30_000 })
    await page.getByText('What it stands on').waitFor()
    expect(new URL(page.url()).searchParams.get('alert')).toMatch(/^al-/)
    await shop.client.removeAlertRule({ name: other.name })
  })

  test('an alert is acknowledged, and others see who is at it', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/alerts`)
    await page.getByText(/alerts fire and nobody is at them/).waitFor()
    await page.getByRole('grid', { name: 'Alerts' }).getByRole('row').filter({ hasText: 'ECONNREFUSED' }).click()
    await page.getByRole('button', { name: 'Acknowledge …' }).click()
    await page.getByLabel(/Reason/).fill('I ask <b>billing</b>')
    await page.getByText(/reprise alerts ack al-[0-9a-f]+ --reason/).waitFor()
    await page.getByRole('button', { name: 'Acknowledge', exact: true }).click()
    await page.getByText('local:admin is at it: I ask <b>billing</b>').waitFor()
    await page.goto(shop.url)
    await page.getByText('local:admin is at it').waitFor()
    const { items } = await shop.client.listAlerts({ status: 'acknowledged' })
    expect(items).toMatchObject([{ rule: 'dead_letters', state: { by: 'local:admin' } }])
  })

  test('an alert is silenced, and that is taken back', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/alerts`)
    await page.getByRole('grid', { name: 'Alerts' }).getByRole('row').filter({ hasText: 'no customer' }).click()
    await page.getByRole('button', { name: 'Silence …' }).click()
    await page.getByLabel(/Reason/).fill('we know')
    await page.getByText(/reprise alerts silence al-[0-9a-f]+ --for 2h --reason 'we know'/).waitFor()
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    await page.getByText('Nobody is told of it now: it is silenced.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Taken back:').waitFor()
    expect((await shop.client.listSilences({})).items.map(({ active }) => active)).toEqual([false])
  })

  test('alerts are silenced by what they are about, and the silence is ended', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/alerts?tab=silences&sheet=silence`)
    await page.getByLabel(/^Which/).fill('retry_rate')
    await page.getByText(/Write names and values/).waitFor()
    await page.getByLabel(/^Which/).fill('rule=retry_rate, action=mail.*')
    await page.getByLabel(/^Reason/).fill('the bank is down')
    await page
      .getByText("reprise alerts silence 'rule=retry_rate,action=mail.*' --for 2h --reason 'the bank is down'")
      .waitFor()
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    const silence = page.getByRole('listitem').filter({ hasText: 'rule=retry_rate,action=mail.*' })
    await silence.getByRole('button', { name: 'End it …' }).click()
    await page.getByRole('button', { name: 'End it', exact: true }).click()
    await silence.getByText('over', { exact: true }).waitFor()
    expect((await shop.client.listSilences({})).items.map(({ active }) => active)).toEqual([false, false])
  })

  test('a channel is made, tested and switched off, and its secret is in no command', async () => {
    const { page } = seat
    const { port } = receiver.address() as AddressInfo
    await page.goto(`${shop.url}/alerts?tab=channels`)
    await page.getByText('Nobody is told of alerts.').waitFor()
    await page.getByRole('button', { name: 'Make a channel …' }).click()
    await page.getByLabel('Name').fill('chat')
    await page.getByLabel('Kind').selectOption('webhook')
    await page.getByLabel(/^Address/).fill(`http://127.0.0.1:${port}/secret`)
    await page.getByText('reprise channels create chat --kind webhook --set url=@url.txt').waitFor()
    await page.getByRole('button', { name: 'Make it' }).click()
    await page.getByRole('grid', { name: 'Channels' }).getByRole('row').filter({ hasText: 'chat' }).click()
    await page.getByRole('button', { name: 'Send a test …' }).click()
    await page.getByRole('button', { name: 'Send it' }).click()
    await page.getByText('It arrives: HTTP 200.').waitFor()
    await page.getByRole('list', { name: 'Deliveries' }).getByText('delivered').first().waitFor()
    expect(received).toContain('/secret')
    expect(await page.getByText('/secret').count()).toBe(0)
    await page.getByRole('button', { name: 'Switch off …' }).click()
    await page.getByRole('button', { name: 'Switch off', exact: true }).click()
    await page.getByText('The channel chat is off.').waitFor()
    expect((await shop.client.listChannels({})).items).toMatchObject([{ name: 'chat', enabled: false }])
  })

  test('a rule is made, changed, switched off and removed', async () => {
    const { page } = seat
    const nightly = async () => (await shop.client.listAlertRules({})).items.find(({ name }) => name === 'nightly')
    await page.goto(`${shop.url}/alerts?tab=rules`)
    await page.getByRole('button', { name: 'Make a rule …' }).click()
    await page.getByLabel(/^Name/).fill('nightly')
    await page.getByLabel(/^Figure/).selectOption('no_success')
    await page.getByLabel('Only of this action').fill('report.nightly')
    await page.getByLabel('Within').fill('23h')
    await page
      .getByText('reprise alerts rule nightly --metric no_success --window 23h --action report.nightly')
      .waitFor()
    await page.getByRole('button', { name: 'Set it' }).click()
    await page.getByRole('grid', { name: 'Rules' }).getByRole('row').filter({ hasText: 'nightly' }).click()
    await page.getByRole('button', { name: 'Change …' }).click()
    await page.getByLabel(/^Severity/).selectOption('critical')
    await page.getByText('reprise alerts rule nightly --severity critical').waitFor()
    await page.getByRole('button', { name: 'Set it' }).click()
    await expect.poll(nightly).toMatchObject({ severity: 'critical', windowMs: 23 * 3_600_000, enabled: true })
    await page.getByRole('button', { name: 'Switch off …' }).click()
    await page.getByRole('button', { name: 'Switch off', exact: true }).click()
    await expect.poll(nightly).toMatchObject({ severity: 'critical', enabled: false })
    await page.getByRole('button', { name: 'Remove …' }).click()
    await page.getByRole('button', { name: 'Remove it' }).click()
    await expect.poll(nightly).toBeUndefined()
  })

  test('who may only look sees no button that would be refused', async () => {
    const { token } = await shop.client.createToken({ name: 'looks', role: 'viewer' })
    const viewer = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    const [alert] = (await shop.client.listAlerts({})).items
    for (const [path, shows] of [
      [`/alerts?alert=${alert?.id}`, 'What it stands on'],
      ['/alerts?tab=silences&sheet=silence', 'the bank is down'],
      ['/alerts?tab=rules&rule=retry_rate', 'not told after'],
      ['/alerts?tab=channels&channel=chat&sheet=channel', 'What it was told'],
    ] as const) {
      await viewer.page.goto(`${shop.url}${path}`)
      await viewer.page.getByText(shows).first().waitFor()
      expect([path, await changesOn(viewer.page)]).toEqual([path, []])
    }
    expect(viewer.wrong).toEqual([])
    await viewer.close()
  })

  test('nothing was refused by the content policy, and nothing was asked elsewhere', () => {
    expect(seat.wrong).toEqual([])
  })
})
