// A worker in a process of its own, on a file: it keeps the process alive, and SIGTERM or SIGHUP ends both without a
// rescue. Stopped, it holds the process no longer.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient, defineAction } from '@reprise/client'
import { expect, onTestFinished, test } from 'vitest'

const echo = defineAction({ name: 'echo', run: (input: string) => input })
const hang = defineAction({ name: 'hang' })

function storeOfItsOwn(): string {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-worker-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return `sqlite:${join(directory, 'reprise.db')}`
}

const argumentsOf = (program: URL, store: string): string[] => [
  '--conditions=reprise-source',
  '--no-warnings',
  fileURLToPath(program),
  store,
]

test('a worker that was stopped leaves nothing behind that holds its process', async () => {
  const program = new URL('./stopped-process.ts', import.meta.url)
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, argumentsOf(program, storeOfItsOwn()))
  const { result, held } = JSON.parse(stdout) as { result: string; held: string[] }
  expect(result).toBe('once')
  // The pipes to this test do not hold it.
  expect(held.filter((name) => name !== 'PipeWrap')).toEqual([])
})

test.each(['SIGTERM', 'SIGHUP'] as const)(
  'fault 26: %s with work running: drained or released, then the process ends by itself',
  async (signal) => {
    const address = storeOfItsOwn()
    const client = await createClient({ engine: address })
    onTestFinished(() => client.close())
    const program = new URL('./worker-process.ts', import.meta.url)
    const child = spawn(process.execPath, argumentsOf(program, address), {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(child, 'exit')
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(await (await client.submit(echo, 'from another process')).result({ timeout: '20s' })).toBe(
      'from another process',
    )
    const held = await client.submit(hang, null)
    // By the time this is done, the one before it has been claimed as well.
    await (await client.submit(echo, 'again')).result({ timeout: '20s' })
    expect((await held.get())?.state.status).toBe('running')
    child.kill(signal)
    expect(await ended).toEqual([0, null])
    expect(await held.get()).toMatchObject({ attempt: 0, losses: 0, state: { status: 'queued' } })
    expect((await client.counts()).succeeded).toBe(2)
  },
)
