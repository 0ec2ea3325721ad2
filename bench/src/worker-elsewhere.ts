// A contestant's worker in a process of its own, seen from the process that measures it: started, listened to, stopped.
// The other end is worker-process.ts.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FullSide } from './contestants.ts'
import { NODE_OPTIONS } from './node-options.ts'
import type { Store } from './store.ts'

/** What the worker's process is told, as JSON. */
export interface WorkerRequest {
  readonly store: Store
  readonly side: FullSide
  /** It tells of the starts of tasks from this number on; null for none. */
  readonly tellFrom: number | null
}

/** What it tells: a handler has started. */
export interface Started {
  readonly number: number
  /** In milliseconds. Processes of one machine read the same monotonic clock, so moments of two of them compare. */
  readonly moment: number
  /** By the wall clock, which says when a task is due. */
  readonly at: number
}

export interface WorkerElsewhere {
  /** Rejects if the process ends before it is stopped. */
  readonly failed: Promise<never>
  stop(): Promise<void>
}

const WORKER_PROCESS = fileURLToPath(new URL('./worker-process.ts', import.meta.url))

export function moment(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export interface Telling {
  readonly onStarted: (started: Started) => void
  /** Of which tasks; of all if not given. */
  readonly tellFrom?: number
}

export function startWorker(store: Store, side: FullSide, telling?: Telling): WorkerElsewhere {
  const request: WorkerRequest = { store, side, tellFrom: telling === undefined ? null : (telling.tellFrom ?? 0) }
  // Its output goes to stderr: what this process prints on stdout is the outcome of the measurement.
  const child = fork(WORKER_PROCESS, [JSON.stringify(request)], {
    execArgv: [...NODE_OPTIONS],
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  if (telling !== undefined) child.on('message', (message) => telling.onStarted(message as Started))
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  const exited = once(child, 'exit')
  child.once('exit', (code) => failed.reject(new Error(`The worker's process ended with ${code}.`)))
  return {
    failed: failed.promise,
    async stop() {
      if (child.connected) child.disconnect()
      await exited
    },
  }
}
