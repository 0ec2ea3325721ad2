// The roles of a split deployment as real processes: each is the command line itself, over one Redis.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/reprise.mjs', import.meta.url))
const ACTIONS = fileURLToPath(new URL('./actions.ts', import.meta.url))
const PYTHON_WORKER = fileURLToPath(new URL('../../../examples/http-workers/worker.py', import.meta.url))

export interface Role {
  readonly name: string
  readonly child: ChildProcess
  /** Everything it has said, for when it did not do what it should. */
  readonly lines: readonly string[]
  says(what: RegExp): Promise<void>
}

function start(name: string, command: string, args: readonly string[], env: Readonly<Record<string, string>>): Role {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-split-'))
  const child = spawn(command, args, { cwd: folder, env: { ...process.env, ...env } })
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })
  const lines: string[] = []
  const looks = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      for (const look of looks) look()
    })
  }
  const says = (what: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (lines.some((line) => what.test(line))) resolve()
      }
      looks.add(look)
      child.once('exit', () => reject(new Error(`${name} ended without saying ${what}:\n${lines.join('\n')}`)))
      look()
    })
  return { name, child, lines, says }
}

const reprise = (name: string, args: readonly string[], env: Readonly<Record<string, string>>): Role =>
  start(name, process.execPath, [BIN, ...args], { LOG_FORMAT: 'json', ...env })

export async function startCore(name: string, redisUrl: string): Promise<Role & { readonly url: string }> {
  const port = await freePort()
  const core = reprise(name, ['core', '--port', String(port)], { REPRISE_ENGINE: redisUrl, ENV: 'local' })
  await core.says(/The core listens/)
  return { ...core, url: `http://127.0.0.1:${port}` }
}

export async function startOrchestrator(name: string, redisUrl: string): Promise<Role> {
  const role = reprise(name, ['orchestrator', '--health-port', '0'], { REPRISE_ENGINE: redisUrl })
  await role.says(/The orchestrator runs/)
  return role
}

export async function startWorker(name: string, redisUrl: string): Promise<Role> {
  const role = reprise(name, ['worker', ACTIONS, '--health-port', '0'], { REPRISE_ENGINE: redisUrl })
  await role.says(/The worker takes tasks/)
  return role
}

export async function startPythonWorker(name: string, url: string, token: string): Promise<Role> {
  const role = start(name, 'python3', [PYTHON_WORKER], { REPRISE_URL: url, REPRISE_TOKEN: token, REPRISE_WORKER: name })
  await role.says(/is ready/)
  return role
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
