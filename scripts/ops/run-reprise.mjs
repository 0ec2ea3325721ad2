// Runs a command of the command line of this clone, with the words that follow the script, and ends as the command does.

import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @param {string} command */
export function runReprise(command) {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const bin = join(root, 'node_modules', '.bin')
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` }
  const { status } = spawnSync(join(bin, 'reprise'), [command, ...process.argv.slice(2)], { stdio: 'inherit', env })
  process.exitCode = status ?? 1
}
