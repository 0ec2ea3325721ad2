// Stages without a cloud: commands as child processes, and a plugin over HTTP that accepts and is asked.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Launcher } from '@reprise/core'
import type { StagedTrouble, StagedWorker } from '../src/index.ts'
import { launcherBy } from './recipes.ts'
import type { PlatformStep, SteppedFactory, SteppedStage } from './steps.ts'

/** Notes its token and process under a name that sorts by time, and runs until it is ended. */
const SCRIPT = `#!/bin/sh
name="$WORKERS/$(date +%s%N).$$"
printf '%s' "$REPRISE_LEASE_TOKEN" > "$name.tmp"
mv "$name.tmp" "$name.worker"
exec sleep 600
`

export const processes: SteppedFactory = {
  name: 'child processes',
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'reprise-stage-'))
    const workers = join(folder, 'workers')
    const script = join(folder, 'worker.sh')
    mkdirSync(workers)
    // As a host has it that launched something before: without it nobody could tell what was never started.
    mkdirSync(join(folder, 'runs', '.ended'), { recursive: true, mode: 0o700 })
    writeFileSync(script, SCRIPT)
    chmodSync(script, 0o755)
    const recipe = { kind: 'process', folder } as const
    const launchers: Launcher[] = []
    const started = (): readonly (StagedWorker & { readonly pid: number })[] =>
      readdirSync(workers)
        .filter((name) => name.endsWith('.worker'))
        .toSorted()
        .map((name) => {
          const pid = Number(name.split('.')[1])
          return {
            pid,
            token: readFileSync(join(workers, name), 'utf8'),
            isRunning: () => isRunning(pid),
            // Its supervisor first, which would tell how it ended.
            vanish: () => {
              const supervisor = parentOf(pid)
              kill(supervisor)
              kill(pid)
            },
          }
        })
    return {
      action: 'render',
      recipe,
      steps: [],
      onStep: null,
      launcher() {
        const launcher = launcherBy(recipe)
        launchers.push(launcher)
        return launcher
      },
      workers: started,
      troubles: ['denied'],
      trouble: () => chmodSync(script, 0o644),
      recover: () => chmodSync(script, 0o755),
      async close() {
        await Promise.all(launchers.map((launcher) => launcher.close()))
        for (const { pid } of started()) kill(pid)
        rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
      },
    }
  },
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function parentOf(pid: number): number {
  if (!existsSync(`/proc/${pid}/status`)) return 0
  return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
}

function kill(pid: number): void {
  try {
    if (pid > 1) process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

interface Run {
  readonly key: string
  readonly token: string
  end: 'vanished' | 'ended' | null
}

export const http: SteppedFactory = {
  name: 'HTTP',
  async open() {
    const runs: Run[] = []
    const launchers: Launcher[] = []
    let trouble: StagedTrouble | null = null
    let tell: (step: PlatformStep) => void = () => undefined
    const latest = (key: string): Run | undefined => runs.findLast((run) => run.key === key)
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const path = request.url ?? ''
        const key = decodeURIComponent(String(request.headers['idempotency-key'] ?? path.split('/').at(-1)))
        if (request.method === 'GET') {
          tell('looked')
          return answerStatus(response, latest(key))
        }
        if (request.method === 'DELETE') {
          const run = latest(key)
          if (run !== undefined) run.end ??= 'ended'
          tell('stopped')
          return void response.writeHead(204).end()
        }
        if (trouble === 'hanging') return
        if (trouble === 'full') return json(response, 503, {})
        if (trouble === 'throttled') return json(response, 429, {})
        if (trouble === 'denied') return json(response, 403, {})
        const { token } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly token: string }
        const earlier = latest(key)
        const isTaken = earlier !== undefined && (earlier.end === null || earlier.token === token)
        if (!isTaken) runs.push({ key, token, end: null })
        tell('started')
        json(response, isTaken ? 409 : 202, { statusUrl: `/status/${encodeURIComponent(key)}` })
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const recipe = { kind: 'http', origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } as const
    const stage: SteppedStage = {
      action: 'render',
      recipe,
      steps: ['started', 'looked', 'stopped'],
      onStep: null,
      launcher() {
        const launcher = launcherBy(recipe)
        launchers.push(launcher)
        return launcher
      },
      workers: () =>
        runs.map((run) => ({
          token: run.token,
          isRunning: () => run.end === null,
          vanish: () => {
            run.end = 'vanished'
          },
        })),
      troubles: ['full', 'throttled', 'denied', 'hanging'],
      trouble: (kind) => {
        trouble = kind
      },
      recover: () => {
        trouble = null
      },
      async close() {
        await Promise.all(launchers.map((launcher) => launcher.close()))
        server.closeAllConnections()
        await new Promise<void>((resolve) => server.close(() => resolve()))
      },
    }
    tell = (step) => stage.onStep?.(step)
    return stage
  },
}

function answerStatus(response: ServerResponse, run: Run | undefined): void {
  const status = run === undefined ? 404 : run.end === null ? 200 : 410
  json(response, status, { status: 'running' })
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
