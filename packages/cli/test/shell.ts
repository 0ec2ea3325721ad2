// A shell to run `reprise` in without starting processes: a folder of its own, streams that remember, an environment that is
// empty unless a test fills it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Clock, systemClock } from '@reprise/core'
import { onTestFinished } from 'vitest'
import type { Host } from '../src/host.ts'
import { run } from '../src/run.ts'

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface ShellOptions {
  readonly env?: Readonly<Record<string, string>>
  /** By their paths in the folder. */
  readonly files?: Readonly<Record<string, string>>
  /** The width of the terminal that standard output and error are; none if missing. */
  readonly columns?: number
  /** Pieces come one after the other. */
  readonly stdin?: string | AsyncIterable<string>
  readonly clock?: Clock
  /** What `--watch` starts. */
  readonly startCopy?: Host['startCopy']
}

export interface Shell {
  readonly folder: string
  /** Asks what runs to end. */
  readonly ask: (signal?: 'SIGINT' | 'SIGTERM') => void
  readonly reprise: (...argv: string[]) => Promise<Ran>
  /** The first line, so far or to come, that matches. Fails when what says it ends before it has said it. */
  readonly heard: (pattern: RegExp, from: Promise<Ran>) => Promise<string>
}

export function shell(options: ShellOptions = {}): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  for (const [path, text] of Object.entries(options.files ?? {})) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const asked = new AbortController()
  let said = ''
  const listeners = new Set<() => void>()
  const hear = (text: string): void => {
    said += text
    for (const listener of listeners) listener()
  }
  const host = (stdout: string[], stderr: string[]): Host => ({
    stdout: {
      write: (text) => {
        stdout.push(text)
        hear(text)
      },
      isTTY: options.columns !== undefined,
      columns: options.columns,
    },
    stderr: {
      write: (text) => {
        stderr.push(text)
        hear(text)
      },
      isTTY: options.columns !== undefined,
    },
    stdin: {
      isTTY: false,
      text: async () => text(stdinOf(options)),
      get bytes() {
        return bytesOf(stdinOf(options))
      },
    },
    env: options.env ?? {},
    cwd: folder,
    clock: options.clock ?? systemClock,
    asked: asked.signal,
    urged: new AbortController().signal,
    unread: new AbortController().signal,
    stay: () => undefined,
    importModule: (url) => import(/* @vite-ignore */ url),
    startCopy: options.startCopy ?? (() => ({ ended: Promise.resolve(0), stop: () => undefined })),
  })
  return {
    folder,
    ask: (signal = 'SIGTERM') => asked.abort(signal),
    async reprise(...argv) {
      const stdout: string[] = []
      const stderr: string[] = []
      const exitCode = await run(argv, host(stdout, stderr))
      return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') }
    },
    heard: (pattern, from) =>
      new Promise((resolve, reject) => {
        void from.then(({ exitCode, stderr }) => reject(new Error(`It ended with ${exitCode} before that: ${stderr}`)))
        const look = (): void => {
          const line = said.split('\n').find((one) => pattern.test(one))
          if (line === undefined) return
          listeners.delete(look)
          resolve(line)
        }
        listeners.add(look)
        look()
      }),
  }
}

async function* stdinOf({ stdin = '' }: ShellOptions): AsyncGenerator<string> {
  if (typeof stdin === 'string') yield stdin
  else yield* stdin
}

async function* bytesOf(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece)
}
