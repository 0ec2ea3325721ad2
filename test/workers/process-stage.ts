// A store for a test and for worker processes that it starts: on each engine, with a client of its own and a file in which the
// handlers of the processes say what they did. All of it ends with the test.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@reprise/client'
import { connectEngine } from '@reprise/connect'
import type { Engine } from '@reprise/core'
import { createSweep, type SweepOptions } from '@reprise/orchestrator'
import { type RedisServer, startRedis } from '@reprise/test-servers'
import { afterAll, onTestFinished } from 'vitest'

export const ENGINES = ['sqlite', 'redis'] as const

let redis: Promise<RedisServer> | null = null
afterAll(async () => (await redis)?.stop())

interface Stage {
  readonly address: string
  readonly engine: Engine
  readonly client: Client
  /** Where the handlers of processes write. */
  readonly file: string
  /** What they wrote. */
  readonly written: () => readonly string[]
  readonly sweep: (options: Partial<SweepOptions>) => Promise<void>
}

export async function processStage(kind: (typeof ENGINES)[number]): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-processes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const address = await addressIn(folder, kind)
  const connection = await connectEngine(address)
  onTestFinished(() => connection.close())
  const { engine } = connection
  const client = await createClient({ engine })
  onTestFinished(() => client.close())
  const file = join(folder, 'written')
  writeFileSync(file, '')
  const written = (): readonly string[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  const sweep = async (options: Partial<SweepOptions>): Promise<void> => {
    const service = createSweep({ engine, graceMs: 0, ...options })
    await service.start()
    onTestFinished(() => service.stop())
  }
  return { address, engine, client, file, written, sweep }
}

async function addressIn(folder: string, kind: (typeof ENGINES)[number]): Promise<string> {
  if (kind === 'sqlite') return `sqlite:${join(folder, 'store.db')}`
  redis ??= startRedis()
  return `${(await redis).url}?prefix=${randomUUID()}`
}

/** Starts a program of the folder `processes`; killed with the test. */
export function startProcess(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const path = join(import.meta.dirname, 'processes', program)
  const child = spawn(process.execPath, ['--conditions=reprise-source', path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}
