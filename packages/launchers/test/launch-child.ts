// Starts launch-process.ts, lets it go, and tells what it said or that it was killed.

import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LaunchOrder } from '@reprise/core'
import { onTestFinished } from 'vitest'

interface LaunchAnswer {
  readonly handle?: string
  readonly code?: string
}

export interface LaunchChild {
  readonly child: ChildProcess
  go(order: LaunchOrder): void
  /** Null if it died without an answer. */
  readonly answer: Promise<LaunchAnswer | null>
  readonly exited: Promise<NodeJS.Signals | null>
}

export async function aLaunchChild(
  directory: string,
  argv: readonly string[],
  failpoint?: string,
): Promise<LaunchChild> {
  const args = ['--conditions=reprise-source', '--no-warnings', join(import.meta.dirname, 'launch-process.ts')]
  const child = spawn(process.execPath, [...args, directory, JSON.stringify(argv)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...(failpoint === undefined ? {} : { REPRISE_FAILPOINT: failpoint }) },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const ready = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<LaunchAnswer | null>()
  const reader = createInterface({ input: child.stdout })
  reader.on('line', (line) => {
    if (line === 'ready') ready.resolve()
    else answer.resolve(JSON.parse(line) as LaunchAnswer)
  })
  reader.once('close', () => {
    ready.reject(new Error('The process ended before it was ready.'))
    answer.resolve(null)
  })
  await ready.promise
  return { child, go: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`), answer: answer.promise, exited }
}

/** The processes whose working directory lies in this folder: supervisors, among others. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
      } catch {
        return false
      }
    })
}
