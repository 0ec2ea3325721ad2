// Runbooks in a real browser: a dry run, a run that asks and recovers what died, one that a second person has to agree to, and what
// an abort takes back.

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changesOn, hasBrowser, launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

const LONG = { timeout: 30_000 }

describe.runIf(hasBrowser)('B4: runbooks in a browser', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat
  let cause: string

  beforeAll(async () => {
    shop = await openShop()
    await haveBadDeploy(shop)
    const { items } = await shop.client.listFailureGroups({ order: 'count' })
    cause = items[0]?.fingerprint ?? ''
    browser = await launch()
    seat = await sit(browser, shop.url)
    await signIn(seat, await shop.link())
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await shop?.close()
  })

  const stepOf = (page: Page, title: string) =>
    page.getByRole('list', { name: 'Steps' }).getByRole('listitem').filter({ hasText: title })

  test('a dry run says what it would do, with the cause filled in', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/runbooks`)
    await page.getByRole('grid', { name: 'Runbooks' }).getByText('Replay after an outage').click()
    await page.getByText('asks a person').waitFor()
    await page.goto(`${shop.url}/failures/${cause}`)
    const suggested = page.getByRole('region', { name: 'Runbooks that may help' })
    await suggested.getByText('Suggested because the code is ECONNREFUSED. Not run for this cause yet.').waitFor()
    await suggested.getByRole('link', { name: 'Run …' }).click()
    expect(await page.getByLabel(/^fingerprint/).inputValue()).toBe(cause)
    await page.getByLabel(/^Reason/).fill('a look <b>first</b>')
    await page.getByText(`--input fingerprint=${cause} --input rate=50 --input left=0 --dry-run`).waitFor()
    await page.getByRole('button', { name: 'Look what it would do' }).click()
    await page.getByText('It only looked: this is what it would do.').waitFor(LONG)
    await page.getByText('a look <b>first</b>').first().waitFor()
    await stepOf(page, 'Send them back in stages')
      .getByText(/^Would /)
      .waitFor()
    expect(await shop.client.countTasks({ q: `status:dead fingerprint:${cause}` })).toMatchObject({ count: 20 })
  })

  test('a wrong input is refused with a sentence, and what was typed stays', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/runbooks/replay-after-outage?sheet=run&fingerprint=${cause}`)
    await page.getByLabel(/^rate/).fill('many')
    await page.getByLabel(/^Reason/).fill('the bank is back')
    await page.getByRole('button', { name: 'Look what it would do' }).click()
    await page.getByText("The input 'rate' must be a number.").waitFor()
    expect(await page.getByLabel(/^Reason/).inputValue()).toBe('the bank is back')
    // The refusal itself.
    expect(seat.wrong.splice(0)).toEqual([expect.stringContaining('status of 400')])
  })

  test('a run asks, halts at a no, is resumed, and recovers what died', async () => {
    const { page } = seat
    const worker = await shop.deploy('3')
    await page.getByLabel(/^rate/).fill('1000')
    await page.getByLabel(/^Dry run/).uncheck()
    await page.getByRole('button', { name: 'Run it' }).click()
    await page.getByText(/Is what these tasks depend on back/).waitFor(LONG)
    await page.getByRole('button', { name: 'No, halt …' }).click()
    await page.getByLabel(/^Reason/).fill('not yet')
    await page.getByText(/reprise runbook confirm run-\S+ no --reason 'not yet'/).waitFor()
    await page.getByRole('button', { name: 'No, halt', exact: true }).click()
    await page.getByText(/local:admin said no: not yet/).waitFor()
    await page.getByRole('button', { name: 'Resume …' }).click()
    await page.getByRole('button', { name: 'Resume', exact: true }).click()
    await page.getByRole('button', { name: 'Yes, go on …' }).click(LONG)
    await page.getByRole('button', { name: 'Yes, go on', exact: true }).click()
    await page.getByText('All steps are done.').waitFor(LONG)
    await stepOf(page, 'Send them back in stages').getByText('is done; 20 recovered').waitFor()
    expect(await shop.client.countTasks({ q: `status:dead fingerprint:${cause}` })).toMatchObject({ count: 0 })
    await page.goto(`${shop.url}/runbooks/replay-after-outage`)
    await page.getByText('1 of 1 run succeeded (100 %)').waitFor()
    await page.goto(`${shop.url}/failures/${cause}`)
    await page.getByText('For this cause, 1 of 1 run succeeded.').waitFor()
    await worker.stop()
  })

  test('who started a run can not agree to it; another person can, and an abort takes back', async () => {
    const { page } = seat
    const inputs = { action: 'order.confirm', query: 'label:region=us' }
    await page.goto(`${shop.url}/runbooks/poison-pill-quarantine?sheet=run&action=${inputs.action}`)
    await page.getByLabel(/^query/).fill(inputs.query)
    await page.getByLabel(/^Dry run/).uncheck()
    await page.getByText('somebody else than you has to agree').waitFor()
    await page.getByLabel(/^Reason/).fill('they crash workers')
    await page.getByRole('button', { name: 'Run it' }).click()
    await page.getByText('You started it, or a token of yours did, so somebody else has to agree.').waitFor(LONG)
    expect(await page.getByRole('button', { name: 'Agree …' }).count()).toBe(0)

    const { token } = await shop.client.createToken({ name: 'second', role: 'operator' })
    const second = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    await second.page.goto(page.url())
    await second.page.getByRole('button', { name: 'Agree …' }).click()
    await second.page.getByRole('button', { name: 'Agree', exact: true }).click()
    await second.page.close()

    await page.getByText(/dead letters? of order.confirm agree with label:region=us/).waitFor(LONG)
    const held = async () => (await shop.client.listHolds({})).items.length
    expect(await held()).toBe(1)
    await page.getByRole('button', { name: 'Abort …' }).click()
    await page.getByRole('button', { name: 'Abort', exact: true }).click()
    await page.getByText('It was aborted, and what could be taken back was.').waitFor(LONG)
    await stepOf(page, 'Hold the action').getByText('taken back').waitFor()
    expect(await held()).toBe(0)
  })

  test('who may only look sees no button that would be refused', async () => {
    const asking = await shop.client.startRunbook({
      name: 'poison-pill-quarantine',
      inputs: { action: 'order.confirm', query: 'label:region=us' },
      reason: 'again',
    })
    const { token } = await shop.client.createToken({ name: 'looks', role: 'viewer' })
    const viewer = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    for (const [path, shows] of [
      ['/runbooks?tab=open', 'Put poison tasks in quarantine'],
      ['/runbooks/replay-after-outage?sheet=run', 'As it is written'],
      [`/failures/${cause}`, 'Runbooks that may help'],
      [`/runbooks/runs/${asking.id}`, 'It asks whether it may begin.'],
    ] as const) {
      await viewer.page.goto(`${shop.url}${path}`)
      await viewer.page.getByText(shows).first().waitFor()
      expect([path, await changesOn(viewer.page)]).toEqual([path, []])
    }
    expect([viewer.wrong, seat.wrong]).toEqual([[], []])
    await viewer.close()
  })
})
