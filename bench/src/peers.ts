// Installs an engine's peer when a run needs it, beside the benchmark and out of sight of the workspace: peers are no
// dependency of anything here. Versions are pinned; no install script runs, because their binaries come in the tarball.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { EngineName } from './arguments.ts'

export const PEER_NAMES = { sqlite: 'plainjob', redis: 'bullmq' } as const satisfies Record<EngineName, string>

/** What each engine's peer needs. ioredis is the version that BullMQ itself is developed with. */
const PEER_PACKAGES: Readonly<Record<EngineName, Readonly<Record<string, string>>>> = {
  sqlite: { plainjob: '0.0.14', 'better-sqlite3': '13.0.3' },
  redis: { bullmq: '6.7.0', ioredis: '5.11.1' },
}

/** One for each engine: npm removes from a folder what it was not asked for. */
function folderOf(engine: EngineName): string {
  return join(import.meta.dirname, '..', '.peers', engine)
}

/** Null when the peer is there; otherwise why it can't be had. */
export function installPeer(engine: EngineName, tell: (line: string) => void): string | null {
  const packages = Object.entries(PEER_PACKAGES[engine])
  if (packages.every(([name, version]) => installedVersion(engine, name) === version)) return null
  const wanted = packages.map(([name, version]) => `${name}@${version}`)
  tell(`installing ${wanted.join(' and ')} for the comparison`)
  const folder = folderOf(engine)
  mkdirSync(folder, { recursive: true })
  // A manifest of its own: npm must not take the folder for a part of the workspace above.
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, stderr, error } = spawnSync('npm', ['install', '--prefix', folder, ...options, ...wanted], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (error !== undefined) return `npm could not be started: ${error.message}`
  if (status !== 0) return `npm install failed: ${stderr.trim().split('\n')[0] ?? `exit code ${status}`}`
  return null
}

/** A peer's package, as `require` gives it: its types are not at hand, so the caller says what it uses of it. */
export function loadPeer(engine: EngineName, name: string): unknown {
  return createRequire(join(folderOf(engine), 'package.json'))(name)
}

function installedVersion(engine: EngineName, name: string): string | null {
  try {
    const text = readFileSync(join(folderOf(engine), 'node_modules', name, 'package.json'), 'utf8')
    return (JSON.parse(text) as { readonly version?: string }).version ?? null
  } catch {
    return null
  }
}
