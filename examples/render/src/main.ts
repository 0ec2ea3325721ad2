// A distributed render: a film of 120 frames as one durable job, whose chunks are frames. Two hosts render; both are killed by
// SIGKILL on the way, and two others go on with the frames that are left. Run it with
//
//   npm run example:render
//
// It takes a few seconds, keeps everything in a temporary folder and ends by itself. With --engine redis://localhost:6379 it
// uses another store.

import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createClient } from '@reprise/client'
import { jobEnded, startDurableJob } from '@reprise/jobs'
import { FRAME, JOIN } from './actions.ts'
import { renderFrame } from './frame.ts'

const FRAMES = 120

const { values } = parseArgs({ options: { engine: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'reprise-render-'))
const address = values.engine ?? `sqlite:${join(folder, 'reprise.db')}`
const film = join(folder, 'film.txt')
const client = await createClient({ engine: address })
const hosts: ChildProcess[] = []

async function startHost(): Promise<void> {
  const script = fileURLToPath(new URL('./host-process.ts', import.meta.url))
  const host = spawn(process.execPath, ['--conditions=reprise-source', '--no-warnings', script, address, film], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  hosts.push(host)
  await once(host.stdout, 'data')
}

async function killAll(): Promise<void> {
  for (const host of hosts.splice(0)) {
    const exited = once(host, 'exit')
    host.kill('SIGKILL')
    await exited
  }
}

/** What the job has come to once so many frames are done. */
async function whenDone(id: string, frames: number) {
  for (;;) {
    const job = await client.getJob({ id })
    if (job.succeeded >= frames) return job
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

try {
  await Promise.all([startHost(), startHost()])
  const { id } = await startDurableJob(client, {
    name: 'the film',
    action: FRAME,
    chunks: { range: { to: FRAMES } },
    concurrency: 16,
    final: JOIN,
  })
  console.log(`A job of ${FRAMES} frames runs on 2 hosts.`)

  await whenDone(id, FRAMES / 3)
  await killAll()
  const { succeeded } = await client.getJob({ id })
  console.log(`Both hosts were killed. The store knows that at least a third is done, and what is left.`)
  if (succeeded >= FRAMES) throw new Error('The hosts were killed too late.')

  await Promise.all([startHost(), startHost()])
  const job = await jobEnded(client, id)
  const { items } = await client.listTasks({ q: `action:${JOIN}`, limit: 10 })
  const [final] = items
  const { sha256 } = (final?.state.status === 'succeeded' ? final.state.result : {}) as { readonly sha256?: string }
  const alone = createHash('sha256')
  for (let frame = 0; frame < FRAMES; frame++) alone.update(renderFrame(frame))
  const isSame = sha256 === alone.digest('hex') && items.length === 1
  const joined = readFileSync(film, 'utf8').split('\n\n').length - 1
  const { accepted } = await client.counts()
  if (!isSame || joined !== FRAMES) throw new Error('The film is not what one process would have rendered.')
  console.log(
    `Shown: ${job.succeeded} of ${FRAMES} frames, each once (${accepted - 1} tasks), ${FRAMES / 10} of them at a second attempt, though everybody was killed; the final step joined them in order into the film that one process would have made.`,
  )
} finally {
  await killAll()
  await client.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
