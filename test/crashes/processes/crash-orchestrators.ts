// What the crash test of orchestrators does on every engine: real orchestrators kill themselves between reserve, launch and
// note, again and again, and at the end every task ran exactly once.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { defineAction, type Engine, type PoolName } from '@reprise/core'
import { expect, onTestFinished } from 'vitest'

const POOL = 'ephemeral' as PoolName
const append = defineAction({ name: 'effect.append', pool: POOL, timeout: '2m' })
const FAILPOINTS = ['reserved', 'launched', 'noted'] as const
/** Enough that whoever is to crash finds something to launch. */
const BACKLOG = 6

interface Crashing {
  readonly process: ChildProcess
  readonly ended: Promise<NodeJS.Signals | null>
}

export interface CrashReport {
  readonly crashes: number
  readonly tasks: number
  /** Runs, as the children noted them. */
  readonly runs: number
  /** Reservations whose process crashed before it launched anything. */
  readonly takenBack: number
}

/** `address` is how the orchestrators reach the store of `engine`. */
export async function crashOrchestrators(engine: Engine, address: string, crashes: number): Promise<CrashReport> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-orchestrators-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const effects = join(folder, 'effects.log')
  const start = (...failpoint: string[]) => startOrchestrator([address, join(folder, 'runs'), effects, ...failpoint])
  const client = await createClient({ engine })
  let submitted = 0
  const feed = async (): Promise<void> => {
    const { queued } = await engine.counts({ pool: POOL })
    if (queued >= BACKLOG) return
    submitted += BACKLOG
    await client.submitMany(append, Array<null>(BACKLOG).fill(null))
  }

  // Two at a time, each bound to crash; whoever did is replaced.
  let begun = 0
  const next = (): Promise<Crashing> => {
    const failpoint = FAILPOINTS[begun % FAILPOINTS.length] ?? 'reserved'
    return start(failpoint, String(1 + (begun++ % 3)))
  }
  await feed()
  const running = [await next(), await next()]
  for (let crash = 0; crash < crashes; crash++) {
    const { index, signal } = await fed(running, feed, engine)
    expect(signal).toBe('SIGKILL')
    running.splice(index, 1)
    if (begun < crashes) running.push(await next())
  }

  const last = await start()
  await settledBeyond(engine, submitted - 1)
  last.process.kill('SIGTERM')
  await last.ended

  expect(await engine.counts()).toMatchObject({ accepted: submitted, succeeded: submitted })
  // Each attempt ran exactly once, and no task needed a second one.
  const ran = readFileSync(effects, 'utf8').trim().split('\n')
  expect(ran.filter((line) => !line.endsWith(' 1'))).toEqual([])
  expect(new Set(ran).size).toBe(ran.length)
  expect(await journalled(engine, 'execution.lost')).toBe(0)
  expect(await journalled(engine, 'execution.failed')).toBe(0)
  await client.close()
  const takenBack = await journalled(engine, 'execution.released')
  return { crashes: begun, tasks: submitted, runs: ran.length, takenBack }
}

async function startOrchestrator(argv: readonly string[]): Promise<Crashing> {
  const script = join(import.meta.dirname, 'crashing-orchestrator.ts')
  const child = spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', script, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  // It may crash right after it said so, or before anybody heard it.
  await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), ended])
  return { process: child, ended }
}

/** Which of them has ended; the queue never runs dry meanwhile. */
async function fed(
  running: readonly Crashing[],
  feed: () => Promise<void>,
  engine: Engine,
): Promise<{ readonly index: number; readonly signal: NodeJS.Signals | null }> {
  const exits = running.map(async ({ ended }, index) => ({ index, signal: await ended }))
  for (;;) {
    const since = engine.mark()
    await feed()
    const exit = await Promise.race([...exits, engine.wait({ since }, 100)])
    if (exit !== undefined) return exit
  }
}

async function settledBeyond(engine: Engine, count: number): Promise<void> {
  const settled = async (): Promise<number> => {
    const { succeeded, dead } = await engine.counts({ pool: POOL })
    return succeeded + dead
  }
  while ((await settled()) <= count) await engine.wait({ since: engine.mark() }, 100)
}

async function journalled(engine: Engine, type: string): Promise<number> {
  let found = 0
  let cursor = '0'
  for (;;) {
    const page = await engine.journal.read({ cursor, limit: 1_000 })
    if (page.entries.length === 0) return found
    found += page.entries.filter((entry) => entry.type === type).length
    cursor = page.cursor
  }
}
