// Publishes every package, or with --dry-run only tries to: npm packs each and checks what it would send. It goes on after a
// failure, so that one run shows everything there is to mend.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const env = { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}` }
const isDryRun = process.argv.includes('--dry-run')

/** @param {string} command @param {readonly string[]} args */
const run = (command, args) =>
  spawnSync(command, args, { cwd: root, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })

const built = run('tsc', ['-b'])
if (built.status !== 0) {
  process.stderr.write(`publish: the packages can't be built.\n${built.stdout}${built.stderr}`)
  process.exit(1)
}

const console = run('node', ['scripts/build-console.mjs'])
if (console.status !== 0) {
  process.stderr.write(`publish: the console can't be built.\n${console.stdout}${console.stderr}`)
  process.exit(1)
}

let failed = 0
let done = 0
for (const folder of readdirSync(join(root, 'packages'))) {
  const path = join(root, 'packages', folder)
  const manifest = /** @type {{ name: string, version: string, private?: boolean }} */ (
    JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  )
  if (manifest.private === true) continue
  const published = run('npm', ['publish', path, '--ignore-scripts', ...(isDryRun ? ['--dry-run'] : [])])
  const isGood = published.status === 0
  if (isGood) done++
  else failed++
  process.stdout.write(`${isGood ? 'passed' : 'FAILED'}  ${manifest.name}@${manifest.version}\n`)
  if (!isGood) process.stdout.write(`${published.stdout}${published.stderr}\n`)
}
process.stdout.write(`${done} ${isDryRun ? 'could be published' : 'were published'}, ${failed} failed\n`)
if (failed > 0) process.exitCode = 1
