// What launcher and supervisor tell each other: files in the run directory, which outlive both of them, a command on the
// supervisor's standard input, and one line back. Tokens and the environment go through the pipe only, not to the disk.

import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { ProcessId } from '../processes.ts'

/** The names of files in a run directory. */
export const FILE = {
  order: 'order',
  input: 'input',
  /** Its maker decides whether the run begins: the supervisor, or somebody who found the order void. */
  gate: 'gate',
  command: 'command',
  result: 'result',
  outcome: 'outcome',
  log: 'log',
} as const

/** Beside the run directories: gets an empty file with a run's name when that has an outcome. Launchers watch it. */
export const ENDED = '.ended'

export interface OrderFile {
  readonly key: string
  readonly taskId: string
  readonly attempt: number
  readonly voidAt: number
  readonly bootId: string
  /** How long it may run before even its supervisor must have ended it. */
  readonly endedWithinMs: number
}

export type GateFile = ({ readonly by: 'supervisor'; readonly at: number } & ProcessId) | { readonly by: 'bar' }

export type CommandFile = ProcessId

export type OutcomeFile =
  /** Nothing was started, and nothing will be. */
  ({ readonly kind: 'unstarted' } & Unstarted) | ({ readonly kind: 'exited' } & Exited)

export interface Unstarted {
  readonly code: string
  readonly message: string
}

export interface Exited {
  readonly exitCode: number | null
  readonly signal: string | null
  /** The time it was given, if it was ended for taking longer. */
  readonly timedOutMs: number | null
  /** What stands in the result file; null if there is none. */
  readonly result: string | null
  /** How large the result file is, if it is too large to be read. */
  readonly resultBytes: number | null
  /** The last line of standard output; null if it is empty or too long. */
  readonly lastLine: string | null
  readonly stderr: string
}

/** What the supervisor is to do. */
export interface Command {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly input: 'stdin' | 'file'
  readonly timeoutMs: number
  readonly killGraceMs: number
  readonly voidAt: number
}

export type Report = { readonly started: number } | { readonly unstarted: Unstarted }

export const VOID: Unstarted = {
  code: 'LAUNCH_VOID',
  message: 'The launch was held up for so long that the attempt may be somebody else’s by now. Nothing was started.',
}

/** Writes a file whole, or not at all, replacing what was there. */
export function put(path: string, content: unknown): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, JSON.stringify(content), { mode: 0o600 })
  renameSync(temporary, path)
}

/** Writes a file whole if there is none: of several who try, one gets true. */
export function putOnce(path: string, content: unknown, owner: string): boolean {
  const temporary = `${path}.${owner}`
  writeFileSync(temporary, JSON.stringify(content), { mode: 0o600 })
  try {
    linkSync(temporary, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(temporary, { force: true })
  }
}
