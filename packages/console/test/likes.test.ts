// How a reader likes it, in a real browser: views that they save, columns that they choose, a part of the time that they drag out
// of a chart, the place of their traces; and a cause that they tell apart. `npm run test:console`; `npm test` leaves it out.

import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { launch, type Seat, signIn, sit } from './browser.ts'
import { haveBadDeploy, openShop, type Shop } from './shop.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const MINUTE_MS = 60_000

describe.runIf(process.env.REPRISE_CONSOLE === '1')('the console as its reader likes it', () => {
  let shop: Shop
  let browser: Browser
  let seat: Seat
  let fingerprint: string

  beforeAll(async () => {
    shop = await openShop()
    await haveBadDeploy(shop)
    const hasCases = async (): Promise<boolean> => {
      const { items } = await shop.client.listFailureGroups({ order: 'count' })
      fingerprint = items[0]?.fingerprint ?? ''
      return items.length > 1 && items.every((group) => group.case !== undefined)
    }
    await vi.waitUntil(hasCases, { timeout: 30_000 })
    browser = await launch()
    seat = await sit(browser, shop.url)
    await signIn(seat, await shop.link())
  })

  afterAll(async () => {
    await seat?.close()
    await browser?.close()
    await shop?.close()
  })

  test('a query is saved as a view with a name, is there after a reload, and is forgotten', async () => {
    const { page } = seat
    const q = 'status:dead tenant:acme'
    await page.goto(`${shop.url}/tasks?q=${encodeURIComponent(q)}`)
    await page.getByRole('button', { name: 'Save this view' }).click()
    await page.getByLabel('Name of the view').fill('dead <b>acme</b>')
    await page.getByLabel('Name of the view').press('Enter')
    const view = page.getByRole('group', { name: 'Views' }).getByRole('button', { name: 'dead <b>acme</b>' })
    await expect.poll(() => view.getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('group', { name: 'Views' }).getByRole('button', { name: 'All' }).click()
    await page.reload()
    await view.click()
    await page.getByText('20 tasks are like that.').waitFor()
    expect(queryOf(page)).toBe(q)
    await page.goBack()
    await expect.poll(() => queryOf(page)).toBe(null)
    await page.goForward()
    await page.getByRole('button', { name: /^Forget/ }).click()
    await view.waitFor({ state: 'detached' })
    // What was there to begin with can't be saved again, nor what is no query.
    await page.goto(`${shop.url}/tasks?q=status:dead`)
    await page.getByRole('button', { name: 'Dead', exact: true, pressed: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Save this view' }).count()).toBe(0)
  })

  test('columns are hidden and shown, and stay so', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/tasks`)
    const grid = page.getByRole('grid', { name: 'Tasks' })
    const title = (name: string): Locator => grid.getByRole('columnheader', { name, exact: true })
    await title('Tenant').waitFor()
    expect(await title('Pool').count()).toBe(0)
    await page.getByText('Columns', { exact: true }).click()
    await page.getByLabel('Tenant').uncheck()
    await page.getByLabel('Pool').check()
    await title('Tenant').waitFor({ state: 'detached' })
    await title('Pool').waitFor()
    await page.reload()
    await title('Pool').waitFor()
    expect(await title('Tenant').count()).toBe(0)
    // Without these a row says nothing.
    await page.getByText('Columns', { exact: true }).click()
    expect(await page.getByLabel('Status', { exact: true }).count()).toBe(0)
    await page.getByLabel('Tenant').check()
    await page.getByLabel('Pool').uncheck()
    await title('Tenant').waitFor()
  })

  test('a part of the time is dragged out of one chart, shown in all, kept in the address, and taken back', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/?minutes=60`)
    await drag(page, 'Throughput per minute', 0.25, 0.75)
    await page.getByRole('button', { name: 'Show all of it' }).waitFor()
    const { from, to } = rangeOf(page)
    expect((to - from) / MINUTE_MS).toBeGreaterThanOrEqual(28)
    expect((to - from) / MINUTE_MS).toBeLessThanOrEqual(32)
    expect([from % MINUTE_MS, to % MINUTE_MS]).toEqual([0, 0])
    // What failed just now is outside of it.
    const failures = page.getByRole('figure', { name: 'Failures per minute' })
    await page.mouse.move(0, 0)
    await expect.poll(() => failures.locator('figcaption').textContent()).toMatch(/dead 0$/)
    await page.reload()
    await page.getByRole('button', { name: 'Show all of it' }).click()
    await page.getByRole('button', { name: 'Show all of it' }).waitFor({ state: 'detached' })
    await page.goBack()
    await page.getByRole('button', { name: 'Show all of it' }).waitFor()
    expect(rangeOf(page)).toEqual({ from, to })
  })

  test('a click on a chart is no range, and a short one is two minutes at least', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/?minutes=15`)
    await drag(page, 'Retries per minute', 0.5, 0.5)
    expect(new URL(page.url()).searchParams.has('from')).toBe(false)
    await drag(page, 'Retries per minute', 0.5, 0.52)
    await page.getByRole('button', { name: 'Show all of it' }).waitFor()
    const { from, to } = rangeOf(page)
    expect((to - from) / MINUTE_MS).toBe(2)
  })

  test('the trace of a task is linked to where the reader looks at traces', async () => {
    const { page } = seat
    await shop.client.submit(
      'order.confirm',
      {},
      { id: 'traced', labels: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` } },
    )
    await page.goto(`${shop.url}/tasks/traced`)
    await page.getByText(TRACE).waitFor()
    expect(await page.getByRole('link', { name: TRACE }).count()).toBe(0)
    await page.getByRole('button', { name: 'Link it to your tracing' }).click()
    const field = page.getByLabel(/Address of a trace/)
    for (const wrong of ['javascript:alert("{trace}")', 'https://traces.example/without']) {
      await field.fill(wrong)
      expect([wrong, await page.getByRole('button', { name: 'Save' }).isDisabled()]).toEqual([wrong, true])
    }
    await field.fill('https://traces.example/trace/{trace}?of={trace}')
    await field.press('Enter')
    const link = page.getByRole('link', { name: TRACE })
    expect(await link.getAttribute('href')).toBe(`https://traces.example/trace/${TRACE}?of=${TRACE}`)
    expect(await link.getAttribute('rel')).toBe('noreferrer')
    await page.reload()
    await link.waitFor()
    await page.getByRole('button', { name: 'Change the link' }).click()
    await field.fill('')
    await field.press('Enter')
    await link.waitFor({ state: 'detached' })
  })

  test('a cause is told apart by a label, which leads to the tasks of each part, and is put together again', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/failures/${fingerprint}`)
    await page.getByRole('button', { name: 'Split …' }).click()
    await page.getByLabel(/or a label such as label.region/).fill('label.region')
    await page.getByLabel('Reason, for the journal').fill('only eu?')
    await page.getByText(`reprise groups split ${fingerprint} --by label.region --reason 'only eu?'`).waitFor()
    await page.getByRole('button', { name: 'Split', exact: true }).click()
    const parts = page.getByRole('region', { name: 'Told apart by label.region' })
    await expect.poll(() => parts.getByRole('listitem').allTextContents()).toEqual(['eu20its tasks →'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await parts.waitFor({ state: 'detached' })
    await page.keyboard.press('p')
    await page.getByLabel(/or a label such as label.region/).fill('label.region')
    await page.getByRole('button', { name: 'Split', exact: true }).click()
    await parts.getByRole('link', { name: 'its tasks →' }).click()
    await page.getByText('20 tasks are like that.').waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Together again …' }).click()
    await page.getByLabel('Reason, for the journal').fill('it is one')
    await page.getByRole('button', { name: 'Put together' }).click()
    await parts.waitFor({ state: 'detached' })
    const { items } = await shop.client.listEvents({ type: 'group.split', newest: true })
    expect(items.map(({ data }) => data.reason)).toContain('it is one')
  })

  test('who is limited to a tenant redrives without a version, which would be refused', async () => {
    const { page } = seat
    await page.goto(`${shop.url}/failures/${fingerprint}?sheet=redrive`)
    await page.getByLabel(/Only on workers of version/).waitFor()
    const { token } = await shop.client.createToken({ name: 'acme', role: 'operator', tenants: ['acme'] })
    const limited = await sit(browser, shop.url, { extraHTTPHeaders: { authorization: `Bearer ${token}` } })
    await limited.page.goto(`${shop.url}/failures/${fingerprint}?sheet=redrive`)
    await limited.page.getByLabel('Reason, for the journal').fill('fixed')
    expect(await limited.page.getByLabel(/Only on workers of version/).count()).toBe(0)
    await limited.page.getByRole('button', { name: 'Check what would happen' }).click()
    await limited.page.getByText(/20 tasks would run again/).waitFor()
    expect(limited.wrong).toEqual([])
    await limited.close()
  })

  test('nothing was refused by the content policy, and nothing was asked elsewhere', () => {
    expect(seat.wrong).toEqual([])
  })
})

const queryOf = (page: Page): string | null => new URL(page.url()).searchParams.get('q')

function rangeOf(page: Page): { readonly from: number; readonly to: number } {
  const { searchParams } = new URL(page.url())
  return { from: Number(searchParams.get('from')), to: Number(searchParams.get('to')) }
}

/** Over a chart, between two parts of its width. */
async function drag(page: Page, chart: string, from: number, to: number): Promise<void> {
  const area = page.getByRole('figure', { name: chart }).locator('.u-over')
  await area.scrollIntoViewIfNeeded()
  const box = await area.boundingBox()
  if (box === null) throw new Error(`The chart ${chart} is not shown.`)
  const at = (part: number): number => box.x + box.width * part
  const y = box.y + box.height / 2
  await page.mouse.move(at(from), y)
  await page.mouse.down()
  await page.mouse.move(at((from + to) / 2), y, { steps: 3 })
  await page.mouse.move(at(to), y, { steps: 3 })
  await page.mouse.up()
}
