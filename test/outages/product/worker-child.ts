// Starts worker-process.ts and follows what it says: to see that an outage ends no process.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'

export interface WorkerChild {
  readonly begun: ReadonlySet<string>
  readonly errors: readonly string[]
  readonly letGo: () => void
  readonly signal: (name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => void
  /** It still runs; told to stop, it ends by itself and well. */
  readonly expectToEndWell: () => Promise<void>
}

/** `lease` is the worker's own if not given; `token` is for the address of a server. */
export async function startWorkerChild(address: string, lease = '', token = ''): Promise<WorkerChild> {
  const child = fork(join(import.meta.dirname, 'worker-process.ts'), [address, lease], {
    execArgv: ['--conditions=reprise-source', '--no-warnings'],
    env: { ...process.env, TOKEN: token },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const begun = new Set<string>()
  const errors: string[] = []
  const ready = Promise.withResolvers<void>()
  child.on('message', (message: unknown) => {
    if (message === 'ready') ready.resolve()
    else if (typeof message === 'object' && message !== null) {
      if ('begun' in message) begun.add(String(message.begun))
      if ('error' in message) errors.push(String(message.error))
    }
  })
  child.once('exit', () => ready.reject(new Error('The worker ended before it was ready.')))
  await ready.promise
  return {
    begun,
    errors,
    letGo: () => void child.send('let go'),
    signal: (name) => void child.kill(name),
    expectToEndWell: () => expectToEndWell(child),
  }
}

async function expectToEndWell(child: ChildProcess): Promise<void> {
  expect({ code: child.exitCode, signal: child.signalCode }).toEqual({ code: null, signal: null })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
}
