// A server as operators run it: `reprise up` in a process of its own, on loopback, with the platform's worker, and with the
// probe that tells how late its event loop is.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Api } from './api.ts'
import { startCommand } from './command.ts'
import type { LoopFigures } from './loop-probe.ts'

export interface ServerOptions {
  /** A folder of its own. */
  readonly folder: string
  /** The address of its store. */
  readonly store: string
  /** What stands in its reprise.yaml. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** `up` if missing. `core` has no worker, and leaves no word of itself. */
  readonly role?: 'up' | 'core'
  readonly arguments?: readonly string[]
  /** A folder for its profile. */
  readonly profile?: string | undefined
}

export interface RunningServer {
  readonly url: string
  /** The link for the first admin, if it printed one. */
  readonly link: string | null
  /** Its data folder. */
  readonly data: string
  /** As the operator of the whole store; nobody where it left no word of itself. */
  readonly admin: Api
  /** Forgets what was measured so far. */
  readonly reset: () => Promise<void>
  readonly figures: () => Promise<LoopFigures>
  /** What it has logged. */
  readonly log: () => Promise<string>
  /** As SIGTERM does. */
  readonly stop: () => Promise<void>
  /** As SIGKILL does: it can put nothing in order. */
  readonly kill: () => Promise<void>
}

const PROBE = new URL('./loop-probe.ts', import.meta.url)
const ACTIONS = fileURLToPath(new URL('./actions.ts', import.meta.url))
const LOG_LENGTH_MAX = 100_000
const STOP_MS = 20_000
/** How many tasks the platform's worker runs at once. */
export const SLOTS = 10

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { folder, store, settings = {}, env = {}, role = 'up' } = options
  const data = join(folder, 'data')
  mkdirSync(folder, { recursive: true })
  // JSON is YAML.
  writeFileSync(join(folder, 'reprise.yaml'), JSON.stringify(settings))
  const words = [
    role,
    ...(role === 'up' ? [ACTIONS, '--concurrency', String(SLOTS)] : []),
    '--engine',
    store,
    '--data',
    data,
    '--port',
    '0',
    '--log-level',
    'warn',
    '--grace',
    '1s',
    '-o',
    'jsonl',
    ...(options.arguments ?? []),
  ]
  const child = startCommand(words, { cwd: folder, env, preload: [PROBE], profile: options.profile })
  const log = collect(child)
  const { url, link } = await firstLine(child, log)
  const admin = new Api(url, role === 'up' ? localToken(data) : null)
  return {
    url,
    link,
    data,
    admin,
    log: async () => log(),
    reset: async () => void (await asked(child, 'reset')),
    figures: () => asked(child, 'figures'),
    stop: async () => {
      admin.close()
      await ended(child)
    },
    kill: async () => {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}

/** Ends it in order; at once if that takes too long. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const overdue = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exit
  clearTimeout(overdue)
}

async function asked(child: ChildProcess, order: 'reset' | 'figures'): Promise<LoopFigures> {
  if (!child.connected) gone()
  const settled = new AbortController()
  const { signal } = settled
  try {
    child.send(order)
    const ending = once(child, 'exit', { signal }).then(gone)
    const [figures] = (await Promise.race([once(child, 'message', { signal }), ending])) as [LoopFigures]
    return figures
  } finally {
    settled.abort()
  }
}

function gone(): never {
  throw new Error('The server has ended.')
}

function collect(child: ChildProcess): () => string {
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-LOG_LENGTH_MAX)
  })
  return () => said
}

interface Started {
  readonly url: string
  readonly link: string | null
}

function firstLine(child: ChildProcess, log: () => string): Promise<Started> {
  return new Promise((resolve, reject) => {
    let said = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
      const [line, rest] = said.split('\n', 2)
      if (rest !== undefined) resolve(JSON.parse(line ?? '') as Started)
    })
    child.once('exit', (code) => reject(new Error(`The server ended with ${code} before it was ready: ${log()}`)))
  })
}

/** As the command line finds it. */
function localToken(data: string): string {
  return (JSON.parse(readFileSync(join(data, 'local.json'), 'utf8')) as { readonly token: string }).token
}
