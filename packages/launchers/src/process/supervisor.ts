// The process between the orchestrator and the command: it starts the command, watches over its time, and writes down how
// it ended, whether or not the orchestrator still lives. It leads a session of its own, and its working directory is the
// run directory: if that is removed, whatever this process tries fails. It loads nothing but Node.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../monotonic.ts'
import { livingOf, type ProcessId, signalAll, startTimeOf } from '../processes.ts'
import { failpoint } from './failpoint.ts'
import {
  type Command,
  ENDED,
  type Exited,
  FILE,
  type OutcomeFile,
  put,
  putOnce,
  type Report,
  type Unstarted,
  VOID,
} from './protocol.ts'
import { Tail } from './tail.ts'

const STDERR_BYTES_MAX = 4_096
const RESULT_BYTES_MAX = 1_048_576
const TIMER_MS_MAX = 2_147_483_647
/** How long ended processes get to close their pipes, and killed ones to disappear. */
const DRAIN_MS = 1_000
const DISAPPEAR_MS = 10_000
const LOOK_AGAIN_MS = 50

const self: ProcessId = { pid: process.pid, startTime: startTimeOf(process.pid) ?? 0 }

// The command shares the process group, so a script's `kill 0` reaches this process too. It ends with the run.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGPIPE'] as const) {
  process.on(signal, () => undefined)
}

// An orchestrator that died half-way through leaves half a command, which is no JSON: nothing is started then.
await supervise(JSON.parse(await text(process.stdin)) as Command)

async function supervise(command: Command): Promise<void> {
  failpoint('supervisor:begun')
  const input = command.input === 'stdin' ? openSync(FILE.input, 'r') : 'ignore'
  const isFirst = putOnce(FILE.gate, { by: 'supervisor', at: monotonicMs(), ...self }, 'supervisor')
  if (!isFirst) return report({ unstarted: VOID })
  failpoint('supervisor:gated')
  if (monotonicMs() >= command.voidAt) return giveUp(VOID)

  const started = start(command, input)
  if ('code' in started) return giveUp(started)
  if (started.pid === undefined) {
    const [error] = (await once(started, 'error')) as [NodeJS.ErrnoException]
    return giveUp(startProblem(error, command))
  }
  failpoint('supervisor:spawned')
  const child: ProcessId = { pid: started.pid, startTime: startTimeOf(started.pid) ?? 0 }
  put(FILE.command, child)
  failpoint('supervisor:noted')
  report({ started: child.pid })

  const exited = await watchOver(started, child, command)
  failpoint('supervisor:ended')
  writeOutcome({ kind: 'exited', ...exited })
  failpoint('supervisor:written')
  wake()
}

function start({ argv, cwd, env }: Command, input: number | 'ignore'): ChildProcess | Unstarted {
  const [file = '', ...args] = argv
  try {
    return spawn(file, args, { cwd, env, stdio: [input, 'pipe', 'pipe'], shell: false })
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code ?? 'LAUNCH_FAILED', message: String(error) }
  }
}

function startProblem(error: NodeJS.ErrnoException, { argv, cwd }: Command): Unstarted {
  const code = error.code ?? 'LAUNCH_FAILED'
  const hint = code === 'ENOENT' ? ` Check that it is installed, and that the folder '${cwd}' exists.` : ''
  return { code, message: `The command '${argv[0]}' could not be started (${code}).${hint}` }
}

async function watchOver(running: ChildProcess, child: ProcessId, command: Command): Promise<Exited> {
  const stdout = new Tail(RESULT_BYTES_MAX)
  const stderr = new Tail(STDERR_BYTES_MAX)
  running.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk))
  running.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk))
  const closed = once(running, 'close')

  let killAt: number | null = null
  const cancel = after(command.timeoutMs, () => {
    killAt = monotonicMs() + command.killGraceMs
    signalAll(livingOf(self, child), 'SIGTERM')
    void killFrom(killAt, child)
  })
  const [exitCode, signal] = (await once(running, 'exit')) as [number | null, string | null]
  cancel()
  // What a command leaves behind ends with it. After a time-out it keeps the rest of the grace time.
  await killFrom(killAt ?? 0, child)
  await Promise.race([closed, sleep(DRAIN_MS)])
  return {
    exitCode,
    signal,
    timedOutMs: killAt === null ? null : command.timeoutMs,
    ...readResult(),
    lastLine: stdout.lastLine(),
    stderr: stderr.lines(),
  }
}

/** Comes back when nothing of the run lives any more. What lives from the given moment on is killed. */
async function killFrom(killAt: number, child: ProcessId): Promise<void> {
  const giveUpAt = Math.max(killAt, monotonicMs()) + DISAPPEAR_MS
  for (;;) {
    const living = livingOf(self, child)
    const now = monotonicMs()
    if (living.length === 0 || now > giveUpAt) return
    if (now >= killAt) signalAll(living, 'SIGKILL')
    await sleep(LOOK_AGAIN_MS)
  }
}

function after(delayMs: number, callback: () => void): () => void {
  const dueAt = monotonicMs() + delayMs
  let timer: NodeJS.Timeout
  const arm = (): void => {
    const restMs = dueAt - monotonicMs()
    timer = setTimeout(restMs > TIMER_MS_MAX ? arm : callback, Math.min(Math.max(restMs, 0), TIMER_MS_MAX))
  }
  arm()
  return () => clearTimeout(timer)
}

function readResult(): Pick<Exited, 'result' | 'resultBytes'> {
  try {
    const stat = lstatSync(FILE.result)
    if (!stat.isFile() || stat.size === 0) return { result: null, resultBytes: null }
    if (stat.size > RESULT_BYTES_MAX) return { result: null, resultBytes: stat.size }
    return { result: readFileSync(FILE.result, 'utf8'), resultBytes: null }
  } catch {
    return { result: null, resultBytes: null }
  }
}

function giveUp(unstarted: Unstarted): void {
  writeOutcome({ kind: 'unstarted', ...unstarted })
  report({ unstarted })
  wake()
}

function writeOutcome(outcome: OutcomeFile): void {
  put(FILE.outcome, outcome)
}

function report(message: Report): void {
  try {
    writeSync(1, `${JSON.stringify(message)}\n`)
  } catch {
    // The orchestrator is gone. It, or another one, will look.
  }
}

function wake(): void {
  try {
    writeFileSync(join('..', '..', ENDED, basename(process.cwd())), '', { mode: 0o600 })
  } catch {
    // Launchers also look by themselves.
  }
}
