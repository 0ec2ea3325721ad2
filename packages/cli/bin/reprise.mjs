#!/usr/bin/env node
// Starts the command line on a Node that can run it. Written so that an old Node understands it: where the machine's own
// is too old, a newer one is looked for in node_modules (the package `node`), and the same command runs there. In a clone
// the sources run as they are; published, what was built from them. What the command line does is in main.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NODE_MIN = 24
const CONDITION = '--conditions=reprise-source'
const here = dirname(fileURLToPath(import.meta.url))
const source = join(here, '..', 'src', 'main.ts')
const isSource = existsSync(source)

if (Number.parseInt(process.versions.node, 10) >= NODE_MIN) await start()
else startElsewhere()

async function start() {
  // What was compiled once need not be compiled again: starting takes half the time.
  nodeModule.enableCompileCache()
  if (isSource) preferSources()
  const file = isSource ? source : join(here, '..', 'dist', 'main.js')
  const { main } = /** @type {typeof import('../src/main.ts')} */ (await import(pathToFileURL(file).href))
  // From here, so that the sources themselves import nothing by a computed name.
  await main({ importModule: (/** @type {string} */ url) => import(url) })
}

/** Packages of this workspace then are their sources; processes that are forked hear of it too. */
function preferSources() {
  if (process.execArgv.includes(CONDITION) || (process.env.NODE_OPTIONS || '').includes(CONDITION)) return
  process.execArgv.push(CONDITION)
  nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...context.conditions, 'reprise-source'] }),
  })
}

function startElsewhere() {
  // One that was found and is too old itself would look for itself for ever.
  const node = process.env.REPRISE_LAUNCHED === '1' ? null : newerNode()
  if (node === null) {
    process.stderr.write(
      `error: reprise needs Node ${NODE_MIN} or newer, and this is ${process.version}. Install a newer one, or add one to this project: npm install node@26\n`,
    )
    process.exit(1)
  }
  // The channel tells the other process when this one is killed and can't pass anything on.
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, REPRISE_LAUNCHED: '1' },
  })
  // A terminal sends its signals to both; sending them on would make two of one.
  const isTerminal = Boolean(process.stdin.isTTY)
  /** @type {NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) {
    process.on(signal, () => {
      if (!isTerminal || signal === 'SIGTERM') child.kill(signal)
    })
  }
  child.on('error', (error) => {
    process.stderr.write(`error: ${node} can't be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code === null ? 1 : code)
    for (const name of signals) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}

/** The nearest node_modules/node on the way up; null if there is none. */
function newerNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  for (let folder = here; ; folder = dirname(folder)) {
    const node = join(folder, 'node_modules', 'node', 'bin', name)
    if (existsSync(node)) return node
    if (dirname(folder) === folder) return null
  }
}
