// A worker in a process of its own, on a file: it keeps the process alive, and SIGTERM or SIGHUP ends both without a rescue.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient, defineAction } from '@reprise/client'
import { expect, onTestFinished, test } from 'vitest'

const echo = defineAction({ name: 'echo', run: (input: string) => input })
const hang = defineAction({ name: 'hang' })

test.each(['SIGTERM', 'SIGHUP'] as const)(
  '%s with work running: drained or released, then the process ends by itself',
  async (signal) => {
    const directory = mkdtempSync(join(tmpdir(), 'reprise-worker-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const address = `sqlite:${join(directory, 'reprise.db')}`
    const client = await createClient({ engine: address })
    onTestFinished(() => client.close())
    const program = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
    const child = spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', program, address], {
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
