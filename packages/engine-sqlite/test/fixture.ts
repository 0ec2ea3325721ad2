// What the tests of this package share: temporary folders, and child processes that use the same store.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

export * from './fixture-process.ts'

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface StoreProcess {
  readonly child: ChildProcess
  /** The next line it prints. */
  line(): Promise<string>
  ended: Promise<number | null>
}

/** Starts another process on the same file: see store-process.ts for what it can do. */
export function storeProcess(path: string, ...command: string[]): StoreProcess {
  const child = spawn(
    process.execPath,
    ['--conditions=reprise-source', '--no-warnings', join(import.meta.dirname, 'store-process.ts'), path, ...command],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    line: async () => {
      const next = await lines.next()
      return next.done === true ? '' : next.value
    },
    ended: new Promise((resolve) => child.once('exit', (code) => resolve(code))),
  }
}
