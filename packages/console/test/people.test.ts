// What people do, in a real browser: work orders that are taken and closed, settings that are changed, and the journal that has it
// all, found by who did it.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { changesOn, hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

describe.runIf(hasBrowser)('journal, work orders and settings in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat
  const received: string[] = []
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']))
    response.statusCode = received.length === 1 ? 200 : 204
    response.end('thanks')
  })

  beforeAll(async () => {
    await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
    shop = await openShop({ webhookAllow: ['127.0.0.1'] })
    await haveBadDeploy(shop)
    const hasOrders = async (): Promise<boolean> => (await shop.client.listWorkOrders({})).items.length === 2
    await vi.waitUntil(hasOrders, { timeout: 30_000 })
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

  test('a work order is found on the list and on the board, and taken', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/work-orders?view=board`)
    await page.getByText('2 work orders wait for a person; none is taken.').waitFor()
    expect(await page.getByRole('region', { name: 'open', exact: true }).getByRole('link').count()).toBe(2)
    await page.getByRole('button', { name: 'List' }).click()
    await page.getByRole('grid', { name: 'Work orders' }).getByRole('row').nth(1).click()
    await page.getByText('The newest failure').waitFor()
    await page.keyboard.press('a')
    await page.getByText(/reprise workorders take wo-[0-9a-f]+/).waitFor()
    await page.getByRole('button', { name: 'Take it' }).click()
    await page.getByText(/local:admin is on it since/).waitFor()
    // What is typed while the sheet is still open would go into it.
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
  })

  test('it is commented and resolved with what was done, and that is taken back', async () => {
    const { page } = seat
    await page.getByLabel('A comment').fill('asked <i>billing</i>')
    await page.getByRole('button', { name: 'Comment' }).click()
    await page.getByRole('region', { name: 'Comments' }).getByText('asked <i>billing</i>').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Resolve …' }).click()
    expect(await page.getByRole('button', { name: 'Resolve', exact: true }).isDisabled()).toBe(true)
    await page.getByLabel('What was done').fill('billing is back')
    await page.getByText(/reprise workorders resolve wo-[0-9a-f]+ 'billing is back'/).waitFor()
    await page.getByRole('button', { name: 'Resolve', exact: true }).click()
    await page.getByText(/billing is back \(local:admin/).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Taken back:').waitFor()
    await page.getByRole('button', { name: 'Take …' }).waitFor()
  })

  test('a token is made, shown once and revoked', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/settings?tab=tokens`)
    await page.getByRole('button', { name: 'Make a token …' }).click()
    await page.getByLabel('What it is for').fill('night-shift')
    await page.getByLabel('Role').selectOption('operator')
    await page.getByLabel(/Only for these tenants/).fill('acme')
    await page.getByText('reprise token create night-shift --role operator --tenant acme --expires 90d').waitFor()
    await page.getByRole('button', { name: 'Make it' }).click()
    await page.getByText('it is shown this once').waitFor()
    const token = await page.getByRole('dialog').locator('code').textContent()
    const asked = await fetch(`${shop.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(await asked.json()).toMatchObject({ actor: 'token:acme/night-shift', tenants: ['acme'] })
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row').filter({ hasText: 'night-shift' }).getByRole('button', { name: 'Revoke …' }).click()
    await page.getByRole('button', { name: 'Revoke the token' }).click()
    await page.getByText('The token night-shift is revoked.').waitFor()
    expect((await shop.client.listTokens()).items.map(({ name }) => name)).not.toContain('night-shift')
  })

  test('a webhook is made, tried, and a delivery of it is sent again', async () => {
    const { page } = seat
    const { port } = receiver.address() as AddressInfo
    await page.goto(`${shop.url}/settings?tab=webhooks`)
    await page.getByRole('button', { name: 'Make a webhook …' }).click()
    await page.getByLabel('Address').fill(`http://127.0.0.1:${port}/in`)
    await page.getByLabel(/Kinds of events/).fill('lanes.*')
    await page.getByRole('button', { name: 'Make it' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page
      .getByRole('row')
      .filter({ hasText: `:${port}/in` })
      .click()
    await page.getByRole('button', { name: 'Send a ping …' }).click()
    await page.getByRole('button', { name: 'Send it' }).click()
    await page.getByText('It arrives: HTTP 200.').waitFor()
    await shop.client.pauseLanes({ tenant: 'blue', reason: 'for the hook' })
    const deliveries = page.getByRole('list', { name: 'Deliveries' })
    const paused = deliveries.getByRole('listitem').filter({ hasText: 'lanes.paused' })
    await paused.getByText('delivered').waitFor()
    const before = received.length
    await paused.getByRole('button', { name: 'Send again …' }).click()
    await page.getByText(/reprise webhooks redeliver \S+ \S+/).waitFor()
    await page.getByRole('button', { name: 'Send it' }).click()
    await expect.poll(() => received.length, { timeout: 30_000 }).toBe(before + 1)
    expect(received.at(-1)).toBe(received.at(-2))
  })

  test('a flag is switched off after a look at what that means, and on again with undo', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/settings?tab=flags`)
    const flag = page.getByRole('listitem').filter({ hasText: 'task-retry-queue' })
    await flag.getByRole('button', { name: 'Switch off …' }).click()
    await page.getByText('No automatic retry is scheduled').waitFor()
    await page.getByLabel('Reason').fill('we look into it')
    await page.getByText("reprise flags set task-retry-queue off --reason 'we look into it'").waitFor()
    await page.getByRole('button', { name: 'Switch it off' }).click()
    await flag.getByText('off', { exact: true }).waitFor()
    expect((await shop.client.info()).flags['task-retry-queue']).toBe(false)
    await page.getByRole('button', { name: 'Undo' }).click()
    await flag.getByText('on', { exact: true }).waitFor()
  })

  test('the journal has it all, by who did it, kind and time, in the address', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/journal`)
    await page.getByLabel('done by').fill('local:admin')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText(/entries in the last 24 h; \d+ by 1 operator\./).waitFor()
    expect(new URL(page.url()).searchParams.get('actor')).toBe('local:admin')
    const grid = page.getByRole('grid', { name: 'Journal' })
    await grid.getByText('work_order.taken').waitFor()
    await page.getByRole('button', { name: 'Causes and work orders' }).click()
    await grid.getByRole('row').filter({ hasText: 'work_order.closed' }).click()
    await page.getByRole('dialog').getByText('billing is back').first().waitFor()
    await page.keyboard.press('Escape')
    await page.goto(`${shop.url}/journal?since=2020-01-01T00:00:00.000Z&until=2020-01-02T00:00:00.000Z`)
    await page.getByText('The journal has nothing like that.').waitFor()
  })

  test('the audit has each change with what it was, and the record is checked', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/audit`)
    const grid = page.getByRole('grid', { name: 'Audit' })
    await grid.getByRole('row').filter({ hasText: 'setFlag' }).filter({ hasText: 'we look into it' }).click()
    await page.getByRole('dialog').getByText('task-retry-queue').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Check the record' }).click()
    await page.getByText(/✓ As it was sealed: \d+ entr/).waitFor()
    expect(await page.getByText('✕').count()).toBe(0)
  })

  test('B16: an incident has what happened in its order, by kind, and as Markdown', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/incidents?since=1h`)
    await page.getByText(/23 attempts failed of 2 causes, from \S+ to \S+; 23 died\./).waitFor()
    const grid = page.getByRole('grid', { name: 'Timeline' })
    // By the minute: two lines if a minute ended meanwhile.
    const failed = grid
      .getByRole('row')
      .filter({ hasText: /\d+ failed, \d+ died: order.confirm: connect ECONNREFUSED/ })
    await failed.first().waitFor()
    await page.getByRole('button', { name: /operators/ }).click()
    await grid.getByRole('row').filter({ hasText: 'we look into it' }).first().waitFor()
    expect(await failed.count()).toBe(0)
    expect(new URL(page.url()).searchParams.get('kind')).toBe('operator')
    await page.getByRole('button', { name: 'Export as Markdown' }).click()
    await page.getByText('reprise incident export --since 1h > post-mortem.md').waitFor()
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as post-mortem.md' }).click()
    const text = await readFile(await (await saving).path(), 'utf8')
    expect(text).toContain('- Failed attempts: 23, tasks that died: 23, tasks that recovered: 0')
    expect(text).toContain('order.confirm: The order has no customer: &lt;img src=x')
    await page.keyboard.press('Escape')
    await page.goto(`${shop.url}/incidents?since=1h`)
    await failed.first().click()
    await page.getByText('What the failures have').waitFor()
  })

  test('who may only look sees no button that would be refused', async () => {
    const { token } = await shop.client.createToken({ name: 'looks', role: 'viewer' })
    const viewer = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    const { items } = await shop.client.listWorkOrders({})
    for (const [path, shows] of [
      [`/work-orders/${items[0]?.id}`, 'What is known'],
      ['/settings', 'Server and store'],
      ['/settings?tab=flags', 'task-retry-queue'],
      ['/settings?tab=rights', 'What each role may do'],
      ['/settings?tab=tokens', 'You may not see these settings.'],
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
