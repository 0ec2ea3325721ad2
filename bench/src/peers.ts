// Installs the peers when a run needs them, beside the benchmark and out of sight of the workspace: they are no
// dependency of anything here. Versions are pinned; no install script runs, because their binaries come in the tarball.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EngineName } from './arguments.ts'

export const PEERS_FOLDER: string = join(import.meta.dirname, '..', '.peers')

/** What each engine's peer needs. */
const PEER_PACKAGES: Readonly<Record<EngineName, Readonly<Record<string, string>>>> = {
  sqlite: { plainjob: '0.0.14', 'better-sqlite3': '13.0.3' },
}

/** Null when the peers are there; otherwise why they can't be had. */
export function installPeers(engine: EngineName, tell: (line: string) => void): string | null {
  const missing = Object.entries(PEER_PACKAGES[engine]).filter(([name, version]) => installedVersion(name) !== version)
  if (missing.length === 0) return null
  const wanted = missing.map(([name, version]) => `${name}@${version}`)
  tell(`installing ${wanted.join(' and ')} for the comparison`)
  mkdirSync(PEERS_FOLDER, { recursive: true })
  // A manifest of its own: npm must not take the folder for a part of the workspace above.
  writeFileSync(join(PEERS_FOLDER, 'package.json'), '{ "private": true }\n')
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status, stderr, error } = spawnSync('npm', ['install', '--prefix', PEERS_FOLDER, ...options, ...wanted], {
    cwd: PEERS_FOLDER,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (error !== undefined) return `npm could not be started: ${error.message}`
  if (status !== 0) return `npm install failed: ${stderr.trim().split('\n')[0] ?? `exit code ${status}`}`
  return null
}

function installedVersion(name: string): string | null {
  try {
    const text = readFileSync(join(PEERS_FOLDER, 'node_modules', name, 'package.json'), 'utf8')
    return (JSON.parse(text) as { readonly version?: string }).version ?? null
  } catch {
    return null
  }
}
