// Installs the workspace when it is missing or older than the lockfile, and does nothing otherwise. It runs before
// every other script, on whatever Node the machine has, so it uses no dependency and no TypeScript. `--stamp` only
// records that an installation has just been made (npm calls it so after `npm install`).
//
// It is not `npm ci`: a lockfile written against a registry that lacks some platforms' binaries leaves those optional
// packages out, and `npm ci` then refuses it as out of sync. `npm install --no-save` installs the same locked versions,
// checks the same integrity and leaves the lockfile alone.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const lockFile = join(root, 'package-lock.json')
const modules = join(root, 'node_modules')
const stampFile = join(modules, '.reprise-lock-hash')
const pinnedNode = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

const lockHash = () => createHash('sha256').update(readFileSync(lockFile)).digest('hex')

function isUpToDate() {
  if (!existsSync(lockFile) || !existsSync(stampFile) || !existsSync(pinnedNode)) return false
  return readFileSync(stampFile, 'utf8') === lockHash()
}

function stamp() {
  if (existsSync(lockFile) && existsSync(modules)) writeFileSync(stampFile, lockHash())
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`setup: ${message}\n`)
  process.exit(1)
}

function install() {
  const why = existsSync(modules) ? 'node_modules does not match package-lock.json' : 'nothing is installed yet'
  process.stdout.write(`setup: ${why}, running npm install (about half a minute)\n`)

  // The pinned Node comes from an install script, which npm does not run again for a package that is already there.
  if (!existsSync(pinnedNode)) rmSync(modules, { recursive: true, force: true })

  // npm must not run on the Node it may be about to replace: leave our own node_modules/.bin out of its PATH.
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(modules))
    .join(delimiter)
  const keepLock = existsSync(lockFile) ? ['--no-save'] : []
  const options = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const result = spawnSync('npm', ['install', ...keepLock, ...options], {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  })

  if (result.error) fail(`npm could not be started: ${result.error.message}. Is npm installed and in the PATH?`)
  if (result.status !== 0) {
    fail(
      `npm install failed (exit ${result.status ?? result.signal}); its own message is above. ` +
        'Check that the npm registry can be reached, then try again.',
    )
  }
  if (!existsSync(pinnedNode)) {
    fail(
      'npm finished, but the pinned Node is not in node_modules/node/bin: its install script was blocked. ' +
        'Allow scripts (`npm config get ignore-scripts` should say false) and try again.',
    )
  }
  stamp()
}

if (process.argv.includes('--stamp')) stamp()
else if (!isUpToDate()) install()
