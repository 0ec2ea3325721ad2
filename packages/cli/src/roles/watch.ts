// Runs a role again whenever a file of the user's changes. The role is a process of its own: what Node has loaded once it does
// not load again. States: the copy runs; a file changed, so it is asked to end, and once it has ended a new one starts; it
// ended by itself, as with an error in a module, so the next change is awaited.

import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { sleep } from '@reprise/core'
import type { Host } from '../host.ts'
import { CommandError, usageError } from '../output/errors.ts'
import type { Output } from '../output/output.ts'

const WATCHED = new Set(['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json', '.yaml', '.yml'])
const LEFT_OUT = new Set(['node_modules', 'dist', 'coverage'])
const FOLDERS_MAX = 1_000
/** An editor writes a file in several steps. */
const GATHER_MS = 100

/** Comes back when somebody asks for the end, and the copy has ended. */
export async function runWatched(modules: readonly string[], host: Host, output: Output): Promise<void> {
  if (modules.length === 0) throw usageError('--watch needs a module whose files it watches.')
  const roots = [...new Set(modules.map((module) => dirname(resolve(host.cwd, module))))]
  const { asked } = host
  while (!asked.aborted) {
    const changes = watchFolders(roots)
    try {
      const copy = host.startCopy()
      asked.addEventListener('abort', copy.stop, { once: true })
      const first = await Promise.race([changes.next, copy.ended.then((exitCode) => ({ exitCode }))])
      if (typeof first === 'object' && !asked.aborted) {
        output.note(`It ended with exit code ${first.exitCode}. A change of a file starts it again.`)
        await Promise.race([changes.next, ended(asked)])
      }
      if (!asked.aborted) {
        await sleep(host.clock, GATHER_MS, asked, { hold: true })
        output.note(`${await changes.next} has changed: it starts again.`)
        copy.stop()
      }
      await copy.ended
      asked.removeEventListener('abort', copy.stop)
    } finally {
      changes.close()
    }
  }
}

interface Changes {
  /** The file that changed first. */
  readonly next: Promise<string>
  close(): void
}

function watchFolders(roots: readonly string[]): Changes {
  const changed = Promise.withResolvers<string>()
  const watchers: FSWatcher[] = []
  for (const folder of roots.flatMap(foldersUnder)) {
    if (watchers.length === FOLDERS_MAX) {
      throw new CommandError(`There are more than ${FOLDERS_MAX} folders to watch under ${roots.join(', ')}.`, {
        hint: 'Move the module into a folder of its own.',
      })
    }
    const watcher = watch(folder, (_, file) => {
      if (file !== null && WATCHED.has(extname(file))) changed.resolve(join(folder, file))
    })
    // A folder that goes away is a change that its parent tells of.
    watcher.on('error', () => watcher.close())
    watchers.push(watcher)
  }
  return {
    next: changed.promise,
    close: () => {
      for (const watcher of watchers) watcher.close()
    },
  }
}

function foldersUnder(folder: string): readonly string[] {
  const inner = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !LEFT_OUT.has(entry.name),
  )
  return [folder, ...inner.flatMap(({ name }) => foldersUnder(join(folder, name)))]
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
