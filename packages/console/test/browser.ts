// A real browser for tests: one Chromium, and pages that are signed in by the link that the server prints. What a page says is
// wrong (errors, what its content policy refuses, requests to elsewhere) is kept for the test to look at.

import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const PROGRAM = process.env.REPRISE_CHROMIUM ?? '/usr/bin/chromium'

/** Whether there is a browser. Without one, the tests that need it are left out and say so. */
export const hasBrowser: boolean = existsSync(PROGRAM)

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })

export interface Seat {
  readonly page: Page
  /** What went wrong in the page so far. */
  readonly wrong: string[]
  close(): Promise<void>
}

/** A browser of its own, with what went wrong in it. `others` are places beside the origin that it may ask. */
export async function sit(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
  others: readonly string[] = [],
): Promise<Seat> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  const wrong: string[] = []
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A 401 before signing in is no fault; a refusal by the content policy is told as an error.
    if (message.type() === 'error' && !message.text().includes('status of 401'))
      wrong.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (![origin, ...others].some((one) => request.url().startsWith(one))) wrong.push(`elsewhere: ${request.url()}`)
  })
  return { page, wrong, close: () => context.close() }
}

/** Signs in with a link, as a person would: opens it and presses the button. */
export async function signIn({ page }: Seat, link: string): Promise<void> {
  await page.goto(link)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
}

/** Buttons that change something: they ask first, or add what was typed. */
export const changesOn = async (page: Page): Promise<string[]> =>
  (await page.getByRole('button').allTextContents()).filter((text) => /…$|^(?:Comment|Add)$/.test(text.trimEnd()))
