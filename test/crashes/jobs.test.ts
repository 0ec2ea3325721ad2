// A durable job survives the end of everybody: the process with its service, its sweep and its worker is killed again and again,
// and at the end each chunk stands once in the results (E6).

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@reprise/client'
import { jobChunks, jobEnded, startDurableJob } from '@reprise/jobs'
import { startRedis } from '@reprise/test-servers'
import { expect, onTestFinished, test } from 'vitest'

// Each kill costs the start of a process and the time of a lease.
const isLong = process.env.REPRISE_LONG === '1'
const CHUNKS = isLong ? 20_000 : 3_000
const KILLS = isLong ? 10 : 2
const STORES = isLong ? ['sqlite', 'redis'] : ['sqlite']
const SCRIPT = join(import.meta.dirname, 'processes', 'crashing-job-host.ts')

async function addressOf(kind: string): Promise<string> {
  if (kind === 'redis') {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    return server.url
  }
  const folder = mkdtempSync(join(tmpdir(), 'reprise-crashes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'store.db')}`
}

async function startHost(address: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', SCRIPT, address], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', () => reject(new Error('The host ended before it was ready.')))
  })
  return child
}

test.each(STORES)(
  `E6: ${KILLS} kills of everybody on %s: each chunk is once in the result`,
  async (kind) => {
    const address = await addressOf(kind)
    const client = await createClient({ engine: address })
    onTestFinished(() => client.close())
    const { id } = await startDurableJob(client, { action: 'square', chunks: { range: { to: CHUNKS } } })
    for (let kill = 1; kill <= KILLS; kill++) {
      const host = await startHost(address)
      const goal = (kill * CHUNKS) / (KILLS + 2)
      for (;;) {
        const { succeeded } = await client.getJob({ id })
        if (succeeded >= goal) break
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      host.kill('SIGKILL')
    }
    const interrupted = await client.getJob({ id })
    expect(interrupted.succeeded).toBeLessThan(CHUNKS)
    await startHost(address)
    expect(await jobEnded(client, id)).toMatchObject({ succeeded: CHUNKS, failed: 0 })
    const results: unknown[] = []
    for await (const { result } of jobChunks(client, id)) results.push(result)
    expect(results).toEqual(Array.from({ length: CHUNKS }, (_, n) => n * n))
    expect((await client.counts()).accepted).toBe(CHUNKS)
  },
  600_000,
)
