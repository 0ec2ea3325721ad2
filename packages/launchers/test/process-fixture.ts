// A process launcher in a folder of its own, and commands that are small Node programs.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LaunchOutcome } from '@reprise/core'
import { describeFailure } from '@reprise/core'
import { expect, onTestFinished, vi } from 'vitest'
import { createProcessLauncher, type ProcessLauncher, type ProcessLauncherOptions } from '../src/index.ts'
import { aFolder, anOrder } from './fixture.ts'
import { processesIn } from './launch-child.ts'

export interface Place {
  readonly launcher: ProcessLauncher
  /** For whatever a command leaves. */
  readonly folder: string
  readonly runs: string
}

export function aLauncher(argv: readonly string[], options: Partial<ProcessLauncherOptions> = {}): Place {
  const folder = aFolder()
  const runs = join(folder, 'runs')
  const launcher = createProcessLauncher({
    directory: runs,
    commands: { render: { argv, cwd: folder } },
    killGrace: '5s',
    ...options,
  })
  onTestFinished(async () => {
    await launcher.close()
    // A test that failed half-way leaves nothing running.
    for (const pid of processesIn(folder)) process.kill(pid, 'SIGKILL')
  })
  return { launcher, folder, runs }
}

/** A command that runs this program. */
export const program = (code: string): string[] => [process.execPath, '--eval', code]

/** A command that runs this script. */
export const script = (code: string): string[] => ['/bin/sh', '-c', code]

export async function fileOnce(path: string): Promise<string> {
  return vi.waitFor(
    () => {
      expect(existsSync(path) && readFileSync(path, 'utf8') !== '').toBe(true)
      return readFileSync(path, 'utf8')
    },
    { timeout: 15_000, interval: 10 },
  )
}

export function failureIn(sighting: { readonly status: string; readonly outcome?: LaunchOutcome }) {
  if (sighting.outcome === undefined || sighting.outcome.ok) throw new Error(`It did not fail: ${sighting.status}.`)
  return describeFailure(sighting.outcome.thrown, anOrder().action)
}

export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
