// `reprise up` on the store of a drill, as a process of its own: the server, and the services that make work orders, alerts and
// redrives and move runbooks.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/reprise.mjs', import.meta.url))
/** How a command of the product is run from its sources. */
export const NODE = ['--conditions=reprise-source', '--no-warnings', BIN]

/** No configuration of anybody else is there. */
export const environment = (folder: string) => ({ PATH: process.env.PATH ?? '', HOME: folder })

export interface Served {
  /** What it prints that looks like this; it may not have been printed yet. */
  said(pattern: RegExp): Promise<string>
  stop(): Promise<void>
}

/** Commands that run in the same folder find it by themselves. */
export function serve(engine: string, folder: string): Served {
  const words = [...NODE, 'up', '--engine', engine, '--port', '0', '--no-demo']
  const child = spawn(process.execPath, words, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: environment(folder),
  })
  return {
    said: (pattern) => printed(child, pattern),
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

async function printed({ stdout }: ChildProcess, pattern: RegExp): Promise<string> {
  if (stdout === null) throw new Error('The server has no output.')
  for await (const line of createInterface({ input: stdout })) {
    const [found] = pattern.exec(line) ?? []
    if (found !== undefined) {
      // What else it prints must not fill the pipe.
      stdout.resume()
      return found
    }
  }
  throw new Error(`The server ended before it printed ${pattern}.`)
}
