// A durable job of many chunks while everybody who moves it is killed again and again: how fast it comes to its end all the same, how much
// memory its processes take, and whether each chunk stands once in the result. The time counts from the start of the job to its end,
// kills and starts of processes included.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@reprise/client'
import { jobChunks } from '@reprise/jobs'
import { NODE_OPTIONS } from './node-options.ts'
import { addressOf, type Store } from './store.ts'

export interface JobRequest {
  readonly store: Store
  readonly chunks: number
  readonly kills: number
}

export interface JobMeasured {
  readonly jobPerS: number
  /** The most that one of its processes had. */
  readonly peakMb: number
}

export const JOB_ACTION = 'bench.chunk'
const HOST_PROCESS = fileURLToPath(new URL('./job-process.ts', import.meta.url))
const LOOK_MS = 20
const COMPILED = join(tmpdir(), 'reprise-bench-compiled')

export async function measureJob({ store, chunks, kills }: JobRequest): Promise<JobMeasured> {
  const client = await createClient({ engine: addressOf(store) })
  let hosts = await startHosts(store)
  let peakMb = 0
  const noteMemory = (): void => {
    for (const { pid } of hosts) peakMb = Math.max(peakMb, memoryOf(pid ?? 0))
  }
  try {
    const startedAt = performance.now()
    const { id } = await client.startJob({ action: JOB_ACTION, range: { to: chunks } })
    for (let kill = 1; kill <= kills; kill++) {
      await until(client, id, (kill * chunks) / (kills + 1), noteMemory)
      await killAll(hosts)
      hosts = await startHosts(store)
    }
    await until(client, id, chunks, noteMemory)
    const jobPerS = (chunks / (performance.now() - startedAt)) * 1_000
    await checkResults(client, id, chunks)
    return { jobPerS, peakMb }
  } finally {
    await killAll(hosts)
    await client.close()
  }
}

/** One moves the job, one works: two cores have something to do. */
async function startHosts({ engine, at, mode }: Store): Promise<readonly ChildProcess[]> {
  return Promise.all(
    (['moves', 'works'] as const).map(async (part) => {
      const words = [...NODE_OPTIONS, HOST_PROCESS, part, addressOf({ engine, at, mode })]
      // Sources are made ready for running once, as a build would: how long that takes again and again says nothing about a job.
      const env = { ...process.env, NODE_COMPILE_CACHE: COMPILED }
      const host = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env })
      await once(host.stdout, 'data')
      return host
    }),
  )
}

async function killAll(hosts: readonly ChildProcess[]): Promise<void> {
  for (const host of hosts) {
    const exited = host.exitCode === null && host.signalCode === null ? once(host, 'exit') : null
    host.kill('SIGKILL')
    await exited
  }
}

async function until(client: Client, id: string, succeeded: number, look: () => void): Promise<void> {
  for (;;) {
    look()
    const job = await client.getJob({ id })
    if (job.succeeded >= succeeded && (succeeded < (job.total ?? 0) || job.status === 'succeeded')) return
    if (job.failed > 0) throw new Error(`${job.failed} chunks failed: ${job.because ?? ''}`)
    await sleep(LOOK_MS)
  }
}

/** Each chunk answers with its own number. */
async function checkResults(client: Client, id: string, chunks: number): Promise<void> {
  let next = 0
  for await (const { place, result } of jobChunks(client, id)) {
    if (place !== next || result !== place) throw new Error(`Chunk ${next} is not in its place in the result.`)
    next++
  }
  const { accepted, succeeded } = await client.counts()
  if (next === chunks && accepted === chunks && succeeded === chunks) return
  throw new Error(`${next} results, ${accepted} tasks and ${succeeded} successes; each should be ${chunks}.`)
}

function memoryOf(pid: number): number {
  try {
    const [, kb = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kb) / 1_024
  } catch {
    return 0
  }
}
