// A server's process: started with its output in a log file, killed and waited for. None outlives this process: what
// is still running when it exits is killed then, and folders made for it are removed.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { Launch } from './binary.ts'

const logTailLines = 20

export class ServerProcess {
  readonly #child: ChildProcess
  readonly #logFile: string
  readonly #logStart: number
  /** When the process has ended, or could not be started. */
  readonly ended: Promise<void>

  constructor({ command, args }: Launch, logFile: string) {
    const log = openSync(logFile, 'a')
    this.#logFile = logFile
    this.#logStart = statSync(logFile).size
    this.#child = spawn(command, args, { stdio: ['ignore', log, log] })
    closeSync(log)
    running.add(this.#child)
    // A server that a test forgot must not keep that test's process alive.
    this.#child.unref()
    this.ended = new Promise((resolve) => {
      const end = () => {
        running.delete(this.#child)
        resolve()
      }
      this.#child.on('exit', end)
      this.#child.on('error', end)
    })
  }

  /** -1 when it could not be started. */
  get pid(): number {
    return this.#child.pid ?? -1
  }

  get isRunning(): boolean {
    return running.has(this.#child)
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name)
  }

  async kill(): Promise<void> {
    this.#child.ref()
    this.#child.kill('SIGKILL')
    await this.ended
  }

  /** What it has written since it was started. */
  log(): string {
    return readFileSync(this.#logFile).subarray(this.#logStart).toString()
  }

  logTail(): string {
    return this.log().trimEnd().split('\n').slice(-logTailLines).join('\n')
  }
}

const running = new Set<ChildProcess>()
const temporaryFolders = new Set<string>()

/** The folder is removed when this process exits, if not before. */
export function removeAtExit(folder: string): void {
  temporaryFolders.add(folder)
}

export function removeNow(folder: string): void {
  // A child of the server, rewriting a file, may live a moment longer than the server: hence the retries.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
  temporaryFolders.delete(folder)
}

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of temporaryFolders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})
