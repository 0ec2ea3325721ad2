// Runs each attempt of a chunk as a process of this host. The process leads a group of its own, so that an attempt that is stopped
// takes what it started with it. What it writes is kept as far as the end of it goes: a process may write without end.

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { type Clock, check, type Duration, durationMs, InvalidError, systemClock } from '@reprise/core'
import type { Chunk, ChunkAdapter, ChunkOutcome, ChunkRun } from './adapter.ts'
import { endWithUs, signalGroup } from './left-processes.ts'

export interface ChunkCommand {
  /** The program and its arguments, passed on as they are: no shell sees them. */
  readonly argv: readonly string[]
  readonly cwd?: string
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** Written to its standard input. */
  readonly stdin?: string
}

export interface ProcessAdapterOptions<Input> {
  readonly command: (chunk: Chunk<Input>) => ChunkCommand
  /** How long one attempt may run; without end if not given. */
  readonly timeout?: Duration
  /** Between SIGTERM and SIGKILL; 5 s if not given. */
  readonly killGrace?: Duration
  /** What is kept of standard output and of standard error, each; 1 MiB if not given. */
  readonly maxOutputBytes?: number
  readonly clock?: Clock
}

const CHECKS: check.Table<ProcessAdapterOptions<never>> = {
  command: check.func,
  timeout: check.anything,
  killGrace: check.anything,
  maxOutputBytes: check.whole(1),
  clock: check.having('now', 'monotonic', 'after'),
}

const KILL_GRACE_MS = 5_000
const OUTPUT_BYTES_MAX = 1_048_576
/** As shells count: a process that a signal ended has this much more than the number of the signal. */
const SIGNAL_EXIT_CODE = 128

/** An attempt gets REPRISE_CHUNK_ID and REPRISE_CHUNK_ATTEMPT in its environment. */
export function createProcessAdapter<Input = unknown>(options: ProcessAdapterOptions<Input>): ChunkAdapter<Input> {
  check.options(options, CHECKS, 'process adapter option', ['command'])
  const { command, clock = systemClock, maxOutputBytes = OUTPUT_BYTES_MAX } = options
  const timeoutMs = options.timeout === undefined ? null : durationMs(options.timeout, 'timeout')
  const killGraceMs = options.killGrace === undefined ? KILL_GRACE_MS : durationMs(options.killGrace, 'killGrace')
  return {
    name: 'process',
    execute: async (run) => {
      run.signal.throwIfAborted()
      return new Attempt(clock, killGraceMs, maxOutputBytes).run(started(command(run.chunk), run), run, timeoutMs)
    },
  }
}

function started<Input>({ argv, cwd, env, stdin }: ChunkCommand, { chunk, attempt }: ChunkRun<Input>): ChildProcess {
  const [file, ...args] = argv
  if (file === undefined) throw new InvalidError(`The command of chunk '${chunk.id}' is empty.`)
  const child = spawn(file, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env, REPRISE_CHUNK_ID: chunk.id, REPRISE_CHUNK_ATTEMPT: String(attempt) },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  // A process that reads nothing closes the pipe.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(stdin ?? '')
  return child
}

class Attempt {
  readonly #clock: Clock
  readonly #killGraceMs: number
  readonly #maxOutputBytes: number

  constructor(clock: Clock, killGraceMs: number, maxOutputBytes: number) {
    this.#clock = clock
    this.#killGraceMs = killGraceMs
    this.#maxOutputBytes = maxOutputBytes
  }

  run(child: ChildProcess, { signal }: Pick<ChunkRun, 'signal'>, timeoutMs: number | null): Promise<ChunkOutcome> {
    const stdout = new KeptEnd(this.#maxOutputBytes)
    const stderr = new KeptEnd(this.#maxOutputBytes)
    child.stdout?.on('data', (part: Buffer) => stdout.push(part))
    child.stderr?.on('data', (part: Buffer) => stderr.push(part))
    const over = new AbortController()
    const letGo = child.pid === undefined ? () => undefined : endWithUs(child.pid)
    let late = ''
    const end = (): void => this.#end(child, over.signal)
    signal.addEventListener('abort', end, { once: true })
    const timer =
      timeoutMs === null
        ? null
        : this.#clock.after(timeoutMs, () => {
            late = `The time-out of ${timeoutMs} ms is over.`
            end()
          })
    return new Promise<ChunkOutcome>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, killedBy) => {
        const exitCode = code ?? SIGNAL_EXIT_CODE + (killedBy === null ? 0 : constants.signals[killedBy])
        // A process that ends well though its time is over has not done what was wanted in time.
        const isLate = late !== '' && exitCode === 0
        resolve({
          exitCode: isLate ? SIGNAL_EXIT_CODE + constants.signals.SIGTERM : exitCode,
          stdout: stdout.text(),
          stderr: [stderr.text(), late].filter((text) => text !== '').join('\n'),
        })
      })
    }).finally(() => {
      letGo()
      over.abort()
      timer?.cancel()
      signal.removeEventListener('abort', end)
    })
  }

  #end(child: ChildProcess, isOver: AbortSignal): void {
    const { pid } = child
    if (pid === undefined) return
    signalGroup(pid, 'SIGTERM')
    const kill = this.#clock.after(this.#killGraceMs, () => signalGroup(pid, 'SIGKILL'), { hold: true })
    isOver.addEventListener('abort', () => kill.cancel(), { once: true })
  }
}

/** The last bytes of a stream. */
class KeptEnd {
  readonly #maxBytes: number
  #parts: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(part: Buffer): void {
    this.#parts.push(part)
    this.#bytes += part.length
    if (this.#bytes > 2 * this.#maxBytes) this.#gather()
  }

  text(): string {
    this.#gather()
    return this.#parts[0]?.toString('utf8').trimEnd() ?? ''
  }

  #gather(): void {
    const all = Buffer.concat(this.#parts)
    this.#parts = [Buffer.from(all.subarray(Math.max(all.length - this.#maxBytes, 0)))]
    this.#bytes = this.#parts[0]?.length ?? 0
  }
}
