import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@reprise/client'
import type { Engine, Execution, Task } from '@reprise/core'
import { openSqliteEngine } from '@reprise/engine-sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { recordEffect } from './crash-action.ts'

const KILLS = 20
const TASKS = 2_500
const SUCCESSES_BETWEEN_KILLS = 80

describe('workers killed by SIGKILL under load', () => {
  it(`lose nothing and settle nothing twice in ${KILLS} kills`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-crashes-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'store.db')
    const effects = join(folder, 'effects.log')
    const engine = await openSqliteEngine({ path })
    const client = await createClient({ engine })
    const inputs = Array.from({ length: TASKS }, (_, index) => ({ ms: 15 + (index % 40) }))
    await client.submitMany(
      recordEffect(() => undefined),
      inputs,
    )

    const workers = [await startWorker(path, effects), await startWorker(path, effects)]
    for (let kill = 0; kill < KILLS; kill++) {
      await succeededBeyond(engine, (kill + 1) * SUCCESSES_BETWEEN_KILLS)
      const victim = workers.shift()
      victim?.kill('SIGKILL')
      workers.push(await startWorker(path, effects))
    }
    await succeededBeyond(engine, TASKS - 1)

    const counts = await engine.counts()
    expect(counts).toMatchObject({ accepted: TASKS, succeeded: TASKS, queued: 0, waiting: 0, running: 0, dead: 0 })
    const tasks = await allTasks(engine)
    expect(tasks).toHaveLength(TASKS)
    let lost = 0
    for (const task of tasks) {
      const statuses = (await engine.executions(task.id)).items.map(({ status }) => status)
      lost += statuses.length - 1
      expect(statuses).toEqual([...Array<Execution['status']>(statuses.length - 1).fill('lost'), 'succeeded'])
    }
    // Every kill hit running work, and each loss was journalled once.
    expect(lost).toBeGreaterThanOrEqual(KILLS)
    expect(await journalled(engine, 'execution.lost')).toBe(lost)
    // Every settled attempt did run, and none ran twice under one number.
    const ran = readFileSync(effects, 'utf8').trim().split('\n')
    expect(new Set(ran).size).toBe(ran.length)
    expect(ran.length).toBeGreaterThanOrEqual(TASKS)

    for (const worker of workers) worker.kill('SIGTERM')
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))))
    await client.close()
    await engine.close()
    const db = new DatabaseSync(path)
    expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
    db.close()
  }, 120_000)
})

async function startWorker(path: string, effects: string): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'crashing-worker.ts')
  const child = spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', script, path, effects], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', () => reject(new Error('The worker ended before it was ready.')))
  })
  return child
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
