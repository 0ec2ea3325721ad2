// The operator's minute in the browser: the incident, and then an operator who has the console, a mouse and a keyboard. They find
// the cause, the fix is deployed, and they recover everything but the poisoned tasks. Each thing that they do is counted: an
// address that they open, a button or link that they press, a field that they fill.

import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { type DrillOptions, type DrillResult, judged } from './drill.ts'
import { runFixed, runIncident } from './incident.ts'
import { serve } from './served.ts'

export const PROGRAM = process.env.REPRISE_CHROMIUM ?? '/usr/bin/chromium'
const REASON = 'version 3 has the fix'
const WAIT_MS = 300_000

export interface ConsoleDrillResult
  extends Pick<DrillResult, 'engine' | 'seconds' | 'recovered' | 'wronglyRerun' | 'poisonAttempts'> {
  readonly actionsToCause: number
  readonly actions: number
}

export async function runConsoleDrill({
  kind,
  engine,
  tasks,
  folder,
  tell,
}: DrillOptions): Promise<ConsoleDrillResult> {
  const left = await runIncident({ engine, tasks, tell: () => undefined, signal: new AbortController().signal })
  tell(`${kind}: ${left.dead} of ${tasks} tasks are dead. The operator's minute begins.`)
  const server = serve(engine, folder)
  const fixed = new AbortController()
  let deployed: Promise<void> | null = null
  let browser: Browser | null = null
  try {
    // The link that signs the first admin in.
    const link = await server.said(/http:\S+\/auth\/\S+/)
    browser = await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    page.setDefaultTimeout(WAIT_MS)
    const hands = new Hands(page, tell)
    const beganAt = performance.now()
    await hands.open(link)
    await hands.press(page.getByRole('button', { name: 'Sign in' }))
    await hands.press(await largestCause(page))
    const differs = page.getByRole('region', { name: /What the failures have/ })
    const version = await valueIn(differs, /^version = (.+)$/)
    const region = await valueIn(differs, /^label\.region = (.+)$/)
    const actionsToCause = hands.actions
    tell(`  The cause: version ${version} in region ${region}. Version 3 is deployed.`)
    deployed = runFixed(engine, () => undefined, fixed.signal)

    await hands.press(page.getByRole('button', { name: /^Redrive all \d+: / }))
    await hands.fill(page.getByLabel('Reason, for the journal'), REASON)
    await hands.fill(page.getByLabel('Only on workers of version, or newer'), '3')
    await hands.press(page.getByRole('button', { name: 'Check what would happen' }))
    await hands.press(page.getByRole('button', { name: /^Start: / }))
    const end = page.getByRole('dialog').getByText(/^[\d,]+ of [\d,]+ tasks recovered\.$|halted/)
    const says = await end.first().textContent()
    const seconds = Math.round((performance.now() - beganAt) / 100) / 10
    const after = await judged(engine, region)
    tell(`  ${hands.actions} actions, ${seconds} s: ${says}`)
    return { engine: kind, actionsToCause, actions: hands.actions, seconds, ...after }
  } finally {
    fixed.abort()
    await deployed
    await browser?.close()
    await server.stop()
  }
}

/** The operator's hands: they count what they do. */
class Hands {
  actions = 0
  readonly #page: Page
  readonly #tell: (line: string) => void

  constructor(page: Page, tell: (line: string) => void) {
    this.#page = page
    this.#tell = tell
  }

  async open(address: string): Promise<void> {
    this.#count('open', 'the link that the server printed')
    await this.#page.goto(address)
  }

  async press(what: Locator): Promise<void> {
    await what.waitFor()
    this.#count('press', (await what.textContent())?.slice(0, 100) ?? '')
    await what.click()
  }

  async fill(what: Locator, text: string): Promise<void> {
    await what.waitFor()
    this.#count('type', text)
    await what.fill(text)
  }

  #count(verb: string, what: string): void {
    this.actions++
    this.#tell(`  ${this.actions}. ${verb} ${what}`)
  }
}

/** The line of Now with the most dead, as the operator reads it. */
async function largestCause(page: Page): Promise<Locator> {
  const lines = page.getByRole('list', { name: 'What needs you' }).getByRole('link', { name: / cause: / })
  await lines.first().waitFor()
  const sizes = (await lines.allTextContents()).map((text) =>
    Number((/([\d,]+) dead/.exec(text)?.[1] ?? '0').replaceAll(',', '')),
  )
  return lines.nth(sizes.indexOf(Math.max(...sizes)))
}

/** What the page says after a name; waits until it is there. */
async function valueIn(where: Locator, pattern: RegExp): Promise<string> {
  const line = where.getByText(pattern).first()
  await line.waitFor()
  const [, value] = pattern.exec((await line.textContent())?.trim() ?? '') ?? []
  if (value === undefined) throw new Error(`The page does not say ${pattern}.`)
  return value
}
