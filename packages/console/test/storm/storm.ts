// A storm: a store with very many tasks and causes, then thousands of failures a second, with the page of failures and a task open
// in a browser. Told is how long the browser was held up at a time, how much it keeps before and after, and whether the pages
// are right at the end. The server and the browser are processes of their own; the failures come from this one.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as rest } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from '@reprise/client'
import { type Engine, systemClock } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import type { Page } from 'playwright-core'
import { launch, type Seat, signIn, sit } from '../browser.ts'
import { lettersOn } from './letters.ts'
import { type Watched, watched } from './watched.ts'

const BIN = fileURLToPath(new URL('../../../cli/bin/reprise.mjs', import.meta.url))
const STEP_MS = 100
const STEP_EVENTS_MAX = 1_000
const SETTLED_MS = 60_000
const LOADED_MS = 300_000
const PAGES = ['failures', 'task'] as const

export interface StormOptions {
  /** The file of the store. Filled unless it holds as many tasks already. */
  readonly file: string
  /** An empty folder to run the server in. */
  readonly folder: string
  readonly tasks: number
  readonly causes: number
  readonly eventsPerS: number
  readonly seconds: number
  readonly tell: (line: string) => void
}

export interface StormResult {
  readonly tasks: number
  readonly causes: number
  /** What this machine managed. */
  readonly eventsPerS: number
  /** From opening the page of failures to its first row. */
  readonly shownMs: number
  readonly longestMs: Readonly<Record<(typeof PAGES)[number], number>>
  readonly keptMb: Readonly<Record<(typeof PAGES)[number], { readonly before: number; readonly after: number }>>
  /** What the pages had wrong at the end, and what went wrong in them. */
  readonly wrong: readonly string[]
}

export async function runStorm(options: StormOptions): Promise<StormResult> {
  const { file, folder, tell, causes } = options
  const engine = await openSqliteEngine({ path: file, durability: 'fast' })
  await fill(engine, options)
  const server = serve(file, folder)
  const browser = await launch()
  try {
    const link = await linkOf(server)
    const url = new URL(link).origin
    const seat = await sit(browser, url)
    await signIn(seat, link)
    const { id } = await sampleTask(engine)
    const failures: Seat['page'] = seat.page
    // With very many tasks the server has much to catch up with at first; what counts begins after that.
    failures.context().setDefaultTimeout(LOADED_MS)
    const task = await failures.context().newPage()
    const openedAt = performance.now()
    await failures.goto(`${url}/failures?order=count`)
    await failures.getByRole('grid', { name: 'Causes' }).getByRole('row').nth(1).waitFor()
    const shownMs = performance.now() - openedAt
    tell(`The largest causes are shown after ${shownMs.toFixed(0)} ms.`)
    await task.goto(`${url}/tasks/${id}`)
    await task.getByText('Timeline').waitFor()
    await rest(2_000)
    const eyes = { failures: await watched(failures), task: await watched(task) }
    const before = await kept(eyes)
    tell(`The storm begins: ${options.eventsPerS} failures a second for ${options.seconds} s.`)
    const eventsPerS = await blow(engine, options)
    const longestMs = { failures: await eyes.failures.longestMs(), task: await eyes.task.longestMs() }
    const wrong = [...(await differences(failures, engine)), ...seat.wrong]
    const after = await kept(eyes)
    const keptMb = {
      failures: { before: before.failures, after: after.failures },
      task: { before: before.task, after: after.task },
    }
    const { accepted } = await engine.counts({})
    return { tasks: accepted, causes, eventsPerS, shownMs, longestMs, keptMb, wrong }
  } finally {
    await browser.close()
    server.kill('SIGTERM')
    if (server.exitCode === null) await once(server, 'exit')
    await engine.close()
  }
}

/** Tasks to begin with: every second one is dead. */
async function fill(engine: Engine, { tasks, causes, tell }: StormOptions): Promise<void> {
  const { accepted } = await engine.counts({})
  if (accepted >= tasks) return
  const letters = await lettersOn(engine, `fill-${systemClock.now()}`, causes)
  const step = Math.max(1_000, Math.floor(tasks / 10))
  for (let done = accepted; done < tasks; done += step) {
    tell(`Filling the store: ${done} of ${tasks} tasks.`)
    await letters.add(Math.min(step, tasks - done), (number) => number % 2 === 0 || number % 3 === 0)
  }
}

/** Failures, at a rate, for a while. The answer is the rate that was reached. */
async function blow(engine: Engine, { causes, eventsPerS, seconds }: StormOptions): Promise<number> {
  const letters = await lettersOn(engine, `storm-${systemClock.now()}`, causes)
  const beganAt = performance.now()
  let sent = 0
  for (;;) {
    const passedMs = performance.now() - beganAt
    if (passedMs >= seconds * 1_000) return Math.round((sent * 1_000) / passedMs)
    // A machine that does not keep up is not asked for all that it owes at once: the time would pass by far.
    const due = Math.min(Math.floor((passedMs / 1_000) * eventsPerS) - sent, STEP_EVENTS_MAX)
    if (due > 0) {
      await letters.add(due, () => true)
      sent += due
    } else await rest(STEP_MS)
  }
}

async function sampleTask(engine: Engine): Promise<{ readonly id: string }> {
  const { items } = await engine.tasks({ status: 'dead', limit: 1 })
  const [first] = items
  if (first === undefined) throw new Error('No task is dead.')
  return first
}

const kept = async (eyes: Readonly<Record<(typeof PAGES)[number], Watched>>) => ({
  failures: await eyes.failures.keptMb(),
  task: await eyes.task.keptMb(),
})

/** What the list of causes shows that the store does not have, once it has had time to come up to date. */
async function differences(page: Page, engine: Engine): Promise<string[]> {
  const client = await createClient({ engine })
  try {
    const { items } = await client.listFailureGroups({ order: 'count', state: 'open', limit: 10 })
    const { dead } = await client.counts()
    const wanted = items.map(({ fingerprint, count }) => `${fingerprint} ${count}`)
    const untilMs = performance.now() + SETTLED_MS
    for (;;) {
      const shown = await shownCauses(page, wanted.length)
      const says = (await page.locator('main header p').first().textContent()) ?? ''
      const wrong = [
        ...wanted.filter((line, at) => shown[at] !== line).map((line, at) => `row ${at}: ${shown[at]}, not ${line}`),
        ...(says.includes(`${dead.toLocaleString('en-US')} are dead`) ? [] : [`the sentence: ${says}, not ${dead}`]),
      ]
      if (wrong.length === 0 || performance.now() > untilMs) return wrong
      await rest(STEP_MS)
    }
  } finally {
    await client.close()
  }
}

async function shownCauses(page: Page, count: number): Promise<readonly string[]> {
  const rows = await page.getByRole('grid', { name: 'Causes' }).locator('[data-key]').all()
  return Promise.all(
    rows.slice(0, count).map(async (row) => {
      const cells = await row.getByRole('gridcell').allTextContents()
      const size = cells.find((text) => /^[\d,]+$/.test(text)) ?? ''
      return `${await row.getAttribute('data-key')} ${size.replaceAll(',', '')}`
    }),
  )
}

function serve(file: string, folder: string): ChildProcess {
  const words = ['--conditions=reprise-source', '--no-warnings', BIN, 'up', '--no-demo', '--port', '0']
  return spawn(process.execPath, [...words, '--engine', `sqlite:${file}`, '--log-level', 'error'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH ?? '', HOME: folder },
  })
}

/** The link that signs the first admin in: the server prints it. */
async function linkOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('The server has no output.')
  for await (const line of createInterface({ input: stdout })) {
    const [link] = /http:\S+\/auth\/\S+/.exec(line) ?? []
    if (link === undefined) continue
    stdout.resume()
    return link
  }
  throw new Error('The server ended before it printed a link.')
}
