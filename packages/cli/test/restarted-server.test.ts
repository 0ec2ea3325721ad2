// `watch` outlives the server of this machine: killed, and started again on another port with another token. Real processes
// are killed; the one that watches runs here.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type LocalServer, readLocalServer } from '../src/local-server.ts'
import { shell } from './shell.ts'

const BIN = join(import.meta.dirname, '..', 'bin', 'reprise.mjs')

/** A server on this data, once it has left word of itself. */
async function up(
  data: string,
  before: LocalServer | null,
): Promise<{ readonly child: ChildProcess; readonly local: LocalServer }> {
  const child = spawn(process.execPath, [BIN, 'up', '--port', '0', '--data', data], {
    env: { PATH: process.env.PATH },
    stdio: 'ignore',
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const local = await vi.waitFor(
    async () => {
      const found = await readLocalServer(data)
      if (found === null || found.token === before?.token) throw new Error('It has left no word yet.')
      return found
    },
    { timeout: 120_000, interval: 50 },
  )
  return { child, local }
}

/** What an operator does: an event. */
async function pause(local: LocalServer, reason: string): Promise<void> {
  const { reprise } = shell()
  const to = ['--url', local.url, '--token', local.token]
  const ran = await reprise('lanes', 'pause', '--action', 'mail', '--reason', reason, ...to, '--yes')
  expect(ran).toMatchObject({ exitCode: 0 })
}

test('watch goes on with a server that was killed and started again, and says so once', async () => {
  const here = shell()
  const data = join(here.folder, '.reprise')
  const first = await up(data, null)
  const running = here.reprise('watch', '--cursor', '0', '--type', 'lanes.*', '-o', 'jsonl')
  await pause(first.local, 'before')
  await here.heard(/"reason":"before"/, running)
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const second = await up(data, first.local)
  expect(second.local.token).not.toBe(first.local.token)
  await pause(second.local, 'after')
  await here.heard(/"reason":"after"/, running)
  here.ask('SIGINT')
  const { exitCode, stdout, stderr } = await running
  expect(exitCode).toBe(130)
  expect(stdout.match(/"reason":"before"/g)).toHaveLength(1)
  expect(stderr.match(/was started again/g)).toHaveLength(1)
  expect(stderr).toContain(second.local.url)
})
