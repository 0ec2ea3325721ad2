// What the crash tests do on every engine: worker processes are killed by SIGKILL under load, again and again, and at the
// end everything adds up.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import type { Engine, Execution, Task } from '@reprise/core'
import { expect, onTestFinished } from 'vitest'
import { RUN_ENDED, recordEffect } from './effect-action.ts'

/** Enough that a worker never finds the queue empty. */
const BACKLOG = 100
const RUNS_BEFORE_KILL = 10

interface Victim {
  readonly process: ChildProcess
  /** How many runs it has ended so far. */
  runs(): number
}

/** `address` is how the worker processes reach the store of `engine`. Answers how many executions were lost by the kills. */
export async function killWorkersUnderLoad(engine: Engine, address: string, kills: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-crashes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const effects = join(folder, 'effects.log')
  const client = await createClient({ engine })
  const action = recordEffect(() => undefined)
  let total = 0
  const feed = async (): Promise<void> => {
    if ((await engine.counts()).queued >= BACKLOG) return
    const inputs = Array.from({ length: BACKLOG }, (_, index) => ({ ms: 15 + (index % 40) }))
    total += inputs.length
    await client.submitMany(action, inputs)
  }

  const workers = [await startWorker(address, effects), await startWorker(address, effects)]
  for (let kill = 0; kill < kills; kill++) {
    const victim = workers.shift()
    if (victim === undefined) break
    await busy(victim, feed, engine)
    victim.process.kill('SIGKILL')
    workers.push(await startWorker(address, effects))
  }
  await succeededBeyond(engine, total - 1)

  const counts = await engine.counts()
  expect(counts).toMatchObject({ accepted: total, succeeded: total, queued: 0, waiting: 0, running: 0, dead: 0 })
  const tasks = await allTasks(engine)
  expect(tasks).toHaveLength(total)
  let lost = 0
  for (const task of tasks) {
    const statuses = (await engine.executions(task.id)).items.map(({ status }) => status)
    lost += statuses.length - 1
    expect(statuses).toEqual([...Array<Execution['status']>(statuses.length - 1).fill('lost'), 'succeeded'])
  }
  // Each loss was journalled once.
  expect(await journalled(engine, 'execution.lost')).toBe(lost)
  // Every settled attempt did run, and none ran twice under one number.
  const ran = readFileSync(effects, 'utf8').trim().split('\n')
  expect(new Set(ran).size).toBe(ran.length)
  expect(ran.length).toBeGreaterThanOrEqual(total)

  for (const worker of workers) worker.process.kill('SIGTERM')
  await Promise.all(workers.map((worker) => new Promise((resolve) => worker.process.once('exit', resolve))))
  await client.close()
  return lost
}

async function startWorker(address: string, effects: string): Promise<Victim> {
  const script = join(import.meta.dirname, 'crashing-worker.ts')
  const child = spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', script, address, effects], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let runs = 0
  child.stdout.on('data', (chunk: Buffer) => {
    runs += chunk.toString().split(RUN_ENDED).length - 1
  })
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', () => reject(new Error('The worker ended before it was ready.')))
  })
  return { process: child, runs: () => runs }
}

/** Waits until this worker has ended some runs more. The queue never runs dry meanwhile, so that others are under way. */
async function busy(worker: Victim, feed: () => Promise<void>, engine: Engine): Promise<void> {
  const enough = worker.runs() + RUNS_BEFORE_KILL
  while (worker.runs() < enough) {
    const since = engine.mark()
    await feed()
    await engine.wait({ since }, 50)
  }
}

/** Waits until more than so many tasks have succeeded: woken by the store, not by a clock. */
async function succeededBeyond(engine: Engine, count: number): Promise<void> {
  while ((await engine.counts()).succeeded <= count) {
    const since = engine.mark()
    if ((await engine.counts()).succeeded > count) return
    await engine.wait({ since }, 50)
  }
}

async function allTasks(engine: Engine): Promise<Task[]> {
  const tasks: Task[] = []
  let cursor: string | undefined
  do {
    const page = await engine.tasks({ limit: 1_000, ...(cursor === undefined ? {} : { cursor }) })
    tasks.push(...page.items)
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return tasks
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
