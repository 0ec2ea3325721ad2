// Starts the worker processes, starts each again when it dies, kills one on demand and stops them all. It knows
// processes only: what their tasks do is in the store, and that is the point of the demo.

import { type ChildProcess, fork } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Announce } from './view.ts'

const WORKER_PROCESS = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
const RESTART_MS = 300
/** A few crashes are planned; more than this means that the workers can't run at all. */
const RESTARTS_MAX = 40
const STOP_MS_MAX = 6_000

export class WorkerFleet {
  readonly #engine: string
  readonly #announce: Announce
  readonly #processes = new Map<string, ChildProcess>()
  /** Those that have come so far as to claim tasks. */
  readonly #claiming = new Set<ChildProcess>()
  readonly #stopping = new AbortController()
  #restarts = 0

  constructor(engine: string, announce: Announce) {
    this.#engine = engine
    this.#announce = announce
  }

  /** True when the workers died so often that starting them again makes no sense. */
  get isBroken(): boolean {
    return this.#restarts > RESTARTS_MAX
  }

  start(ids: readonly string[]): void {
    for (const id of ids) this.#start(id)
  }

  /** Ends the process of this worker without a warning, as a power cut would. False if it does not work just now. */
  kill(id: string): boolean {
    const child = this.#processes.get(id)
    return child !== undefined && this.#claiming.has(child) && child.kill('SIGKILL')
  }

  /** Asks every worker to finish what it has in hand, and waits until they are gone. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const running = [...this.#processes.values()]
    const gone = Promise.all(
      running.map((child) => new Promise<void>((resolve) => child.once('exit', () => resolve()))),
    )
    for (const child of running) child.kill('SIGTERM')
    const impatience = setTimeout(() => {
      for (const child of running) child.kill('SIGKILL')
    }, STOP_MS_MAX)
    await gone
    clearTimeout(impatience)
  }

  #start(id: string): void {
    const child = fork(WORKER_PROCESS, [this.#engine, id], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    this.#processes.set(id, child)
    if (child.stderr !== null) {
      createInterface({ input: child.stderr }).on('line', (line) => this.#announce('bad', `${id} says: ${line}`))
    }
    child.on('error', (error) => {
      if (child.pid === undefined) this.#processes.delete(id)
      this.#announce('bad', `${id} could not be started: ${error.message}`)
    })
    child.once('message', () => this.#claiming.add(child))
    child.once('exit', (code, signal) => {
      this.#claiming.delete(child)
      this.#processes.delete(id)
      // Ctrl-C in a terminal reaches the workers as well: then they stop by themselves.
      if (this.#stopping.signal.aborted || code === 0 || signal === 'SIGINT') return
      this.#announce('bad', `${id} is gone (${signal ?? `exit code ${code}: a task crashed it`}); it is started again`)
      void this.#startAgain(id)
    })
  }

  async #startAgain(id: string): Promise<void> {
    this.#restarts++
    if (this.isBroken) return
    const wait = sleep(RESTART_MS, null, { signal: this.#stopping.signal })
    await wait.then(
      () => this.#start(id),
      () => {},
    )
  }
}
