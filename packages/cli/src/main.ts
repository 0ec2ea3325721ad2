// The command line as a process: its streams, its signals, its exit code. Everything else is in run.ts.

import { spawn } from 'node:child_process'
import { fstatSync, writeFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { decodeUtf8, systemClock } from '@reprise/core'
import type { Copy, Host } from './host.ts'
import { SIGNAL_EXITS, type SignalName } from './output/exit-codes.ts'
import type { Sink } from './output/output.ts'
import { run } from './run.ts'

/** Called by bin/reprise.mjs, which brings what only it can do. */
export async function main({ importModule }: Pick<Host, 'importModule'>): Promise<void> {
  const { asked, urged } = signals()
  followLauncher()
  let stays = false
  const isService = (): boolean => stays
  const exitCode = await run(process.argv.slice(2), {
    stdout: steady(process.stdout, isService),
    stderr: steady(process.stderr, isService),
    stdin: {
      get isTTY() {
        return process.stdin.isTTY
      },
      text: async () => decodeUtf8(await buffer(process.stdin), 'Standard input'),
      get bytes() {
        return process.stdin
      },
    },
    env: process.env,
    cwd: process.cwd(),
    clock: systemClock,
    asked,
    urged,
    unread: readersGone(),
    stay: () => {
      stays = true
    },
    importModule,
    startCopy,
  })
  // Nothing a command left behind may keep the process: what had to be closed is closed, what was written is on its way.
  process.stdout.write('', () => process.exit(exitCode))
}

/** `reprise list | head` is no error, and a service goes on without the reader of its log. */
function readersGone(): AbortSignal {
  const unread = new AbortController()
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      unread.abort()
    })
  }
  return unread.signal
}

/** A stream gives a file up at the first write that fails. A service loses that line, and writes the next when there is room. */
function steady(stream: NodeJS.WriteStream & { readonly fd: number }, isService: () => boolean): Sink {
  const kind = fstatSync(stream.fd)
  if (stream.isTTY || !(kind.isFile() || kind.isCharacterDevice())) return stream
  return {
    write: (text) => {
      try {
        writeFileSync(stream.fd, text)
      } catch (error) {
        if (!isService()) throw error
      }
    },
  }
}

function signals(): { readonly asked: AbortSignal; readonly urged: AbortSignal } {
  const asked = new AbortController()
  const urged = new AbortController()
  for (const signal of Object.keys(SIGNAL_EXITS) as SignalName[]) {
    process.on(signal, () => {
      if (urged.signal.aborted) process.exit(SIGNAL_EXITS[signal])
      if (asked.signal.aborted) urged.abort(signal)
      else asked.abort(signal)
    })
  }
  return { asked: asked.signal, urged: urged.signal }
}

/** In a group of its own, so that a signal of the terminal reaches it once, by way of this process. */
function startCopy(): Copy {
  const words = process.argv.slice(1).filter((word) => word !== '--watch')
  const child = spawn(process.execPath, [...process.execArgv, ...words], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: true,
    env: { ...process.env, REPRISE_LAUNCHED: '1' },
  })
  const ended = Promise.withResolvers<number | null>()
  child.once('error', (error) => ended.reject(error))
  child.once('exit', (code) => ended.resolve(code))
  let isAsked = false
  return {
    ended: ended.promise,
    stop: () => {
      if (!isAsked) child.kill('SIGTERM')
      isAsked = true
    },
  }
}

/** Started by an older Node, or by one that watches files: when that one is killed, nobody would stop this one any more. */
function followLauncher(): void {
  if (process.env.REPRISE_LAUNCHED === undefined || process.channel === undefined) return
  delete process.env.REPRISE_LAUNCHED
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
}
