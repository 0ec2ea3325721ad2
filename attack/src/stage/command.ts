// The real command line as a process of its own: with an environment that says nothing but what the case says, in a folder
// that the case chooses, and with its streams on pipes.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface CommandOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** Modules that are loaded into the process before the command line. */
  readonly preload?: readonly URL[]
  /** A folder for a profile of what the processor does for it, written when it ends. */
  readonly profile?: string | undefined
}

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/reprise.mjs', import.meta.url))
const COMMAND_MS = 60_000

export function startCommand(
  words: readonly string[],
  { cwd, env = {}, preload = [], profile }: CommandOptions,
): ChildProcess {
  const profiled = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profile]
  const imports = preload.flatMap(({ href }) => ['--import', href])
  const { PATH = '' } = process.env
  return spawn(
    process.execPath,
    ['--conditions=reprise-source', '--no-warnings', ...profiled, ...imports, BIN, ...words],
    {
      cwd,
      env: { PATH, HOME: cwd, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
}

/** Runs it to its end, or to the end of its time. */
export async function runCommand(words: readonly string[], options: CommandOptions): Promise<Ended> {
  const child = startCommand(words, options)
  const said = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString('utf8')
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString('utf8')
  })
  const overdue = setTimeout(() => child.kill('SIGKILL'), COMMAND_MS)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(overdue)
  return { code, ...said }
}
