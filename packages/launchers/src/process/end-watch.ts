// Notices soon that a run has ended: supervisors leave its name in a folder, which is watched, and every second there is a
// look in case none did (it was killed, the file system tells no changes). It only hints: the listener looks.

import { type FSWatcher, watch } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, quietly, type Timer } from '@reprise/core'
import { isAlive, type ProcessId } from '../processes.ts'
import { FILE } from './protocol.ts'
import type { Run, Runs } from './runs.ts'

export class EndWatch {
  readonly #runs: Runs
  readonly #clock: Clock
  readonly #pollMs: number
  readonly #running = new Map<string, { readonly run: Run; readonly supervisor: ProcessId }>()
  readonly #listeners = new Set<(key: string) => void>()
  #watcher: FSWatcher | null = null
  #timer: Timer | null = null

  constructor(runs: Runs, clock: Clock, pollMs: number) {
    this.#runs = runs
    this.#clock = clock
    this.#pollMs = pollMs
  }

  add(run: Run, supervisor: ProcessId): void {
    if (this.#running.has(run.name)) return
    this.#running.set(run.name, { run, supervisor })
    this.#arm()
    // It may have ended before it was known here.
    if (this.#listeners.size > 0) void this.#lookAt(run.name)
  }

  delete(run: Run): void {
    this.#running.delete(run.name)
  }

  listen(listener: (key: string) => void): () => void {
    this.#listeners.add(listener)
    this.#arm()
    void this.#lookAtAll()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#disarm()
    }
  }

  close(): void {
    this.#listeners.clear()
    this.#running.clear()
    this.#disarm()
  }

  #arm(): void {
    if (this.#listeners.size === 0 || this.#running.size === 0) return
    this.#timer ??= this.#clock.after(this.#pollMs, () => {
      this.#timer = null
      void this.#lookAtAll().then(() => this.#arm())
    })
    if (this.#watcher !== null) return
    try {
      this.#watcher = watch(this.#runs.ended, { persistent: false }, (_event, name) => {
        if (name !== null) void this.#lookAt(name)
      })
      this.#watcher.on('error', () => this.#unwatch())
    } catch {
      // No watches left, or the folder is gone: the looks go on.
      this.#unwatch()
    }
  }

  #disarm(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#unwatch()
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = null
  }

  async #lookAtAll(): Promise<void> {
    for (const name of this.#running.keys()) await this.#lookAt(name)
  }

  async #lookAt(name: string): Promise<void> {
    const known = this.#running.get(name)
    if (known === undefined) return
    const { run, supervisor } = known
    if (isAlive(supervisor) && !(await exists(join(run.path, FILE.outcome)))) return
    // Another look may have told it meanwhile.
    if (!this.#running.delete(name)) return
    for (const listener of this.#listeners) quietly(() => listener(run.key))
  }
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
