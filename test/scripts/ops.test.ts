// The entry points of operators in a clone, run as they are called: scripts/ops/retry-inspect.mjs and recovery-runbook.mjs (B11, B16).

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import { openFlags, silentLogger, systemClock } from '@reprise/core'
import { createContext, createRunbookHands } from '@reprise/operations'
import { createOrchestrator } from '@reprise/orchestrator'
import { openPolicies } from '@reprise/policies'
import { startRedis } from '@reprise/test-servers'
import { createWorker, defineAction } from '@reprise/worker'
import { describe, expect, onTestFinished, test } from 'vitest'

const SCRIPTS = join(import.meta.dirname, '..', '..', 'scripts', 'ops')
const RUN_MS_MAX = 80_000

interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-ops-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

async function addressOf(kind: string, folder: string): Promise<string> {
  if (kind === 'sqlite') return `sqlite:${join(folder, 'store.db')}`
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  return redis.url
}

/** A store with five dead letters of one cause and a task that waits, and what runs a script on it. */
async function troubledStore(kind: string) {
  const folder = temporaryFolder()
  const address = await addressOf(kind, folder)
  const connection = await connectEngine(address)
  onTestFinished(() => connection.close())
  const { engine } = connection
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  const bank = { isDown: true }
  const charge = defineAction({
    name: 'charge',
    run(amount: number) {
      if (bank.isDown) throw Object.assign(new Error('The bank answered 503.'), { status: 503 })
      return amount
    },
  })
  const worker = await createWorker({ engine, actions: [charge], log: silentLogger })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const tasks = await client.submitMany(charge, [1, 2, 3, 4, 5])
  await Promise.allSettled(tasks.map((task) => task.result()))
  await client.submit(charge, 6, { delay: '1h' })
  const { items } = await client.listFailureGroups()
  const script = (name: string, ...words: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      const command = [join(SCRIPTS, name), ...words, '--engine', address]
      const options = { cwd: folder, env: { PATH: process.env.PATH ?? '', HOME: folder }, timeout: RUN_MS_MAX }
      execFile(process.execPath, command, options, (error, stdout, stderr) =>
        resolve({ exitCode: error === null ? 0 : Number(error.code), stdout, stderr }),
      )
    })
  return { engine, client, bank, script, folder, fingerprint: items[0]?.fingerprint ?? '' }
}

describe.each(['sqlite', 'redis'])('on %s', (kind) => {
  test('B11: retry-inspect.mjs shows the delay queue and the dead letters, and that everything fits', async () => {
    const { script } = await troubledStore(kind)
    const people = await script('retry-inspect.mjs')
    expect(people).toMatchObject({ exitCode: 0, stderr: '' })
    expect(people.stdout).toMatch(/^Delay queue: 1 waiting/)
    expect(people.stdout).toContain('Dead letters: 5.')
    expect(people.stdout).toMatch(/everything fits\.\n$/)
    expect(await script('retry-inspect.mjs', '--no-such-option')).toMatchObject({ exitCode: 2, stdout: '' })
  })

  test('B11, B16: recovery-runbook.mjs asks, then recovers what died; its result is on record', async () => {
    const { engine, client, bank, script, fingerprint } = await troubledStore(kind)
    const policies = await openPolicies({ engine })
    const flags = await openFlags({ engine })
    const context = createContext({ engine, policies, flags, clock: systemClock, maxRetries: 1, version: 'test' })
    const runbooks = createRunbookHands({ context })
    const orchestrator = createOrchestrator({ engine, policies, runbooks, log: silentLogger })
    await orchestrator.start()
    onTestFinished(() => orchestrator.stop())
    const words = ['replay-after-outage', '--input', `fingerprint=${fingerprint}`, '--reason', 'the bank is back']

    const asked = await script('recovery-runbook.mjs', ...words)
    expect(asked.exitCode).toBe(6)
    expect(asked.stderr).toMatch(/It asks: Is what these tasks depend on back, .* reprise runbook confirm run-/s)
    expect((await client.counts()).dead).toBe(5)

    bank.isDown = false
    const done = await script('recovery-runbook.mjs', ...words, '--yes')
    expect(done).toMatchObject({ exitCode: 0 })
    expect(done.stdout).toMatch(/done +No more of them are dead/)
    expect(await client.counts()).toMatchObject({ dead: 0, succeeded: 5 })
    const { items } = await client.listRunbookRuns({})
    expect(items.map(({ state, reason }) => [state, reason])).toEqual([
      ['waiting', 'the bank is back'],
      ['succeeded', 'the bank is back'],
    ])
  })
})

test('B11: retry-inspect.mjs --reconcile finds what does not fit, and repairs it', async () => {
  const { client, script, folder } = await troubledStore('sqlite')
  const { id } = await client.submit('nobody.runs.this', {})
  const db = new DatabaseSync(join(folder, 'store.db'))
  db.exec('DELETE FROM ready')
  db.close()
  const found = await script('retry-inspect.mjs')
  expect(found.exitCode).toBe(1)
  expect(found.stdout).toContain(`task '${id}'`)
  expect(await script('retry-inspect.mjs', '--reconcile', '--yes', '--reason', 'after the crash')).toMatchObject({
    exitCode: 0,
  })
  expect(await script('retry-inspect.mjs')).toMatchObject({ exitCode: 0 })
})
