// Runs every check that is not a test of behaviour, one after the other, and sums up at the end. It goes on after a
// failure, so that one run shows everything there is to fix. Exit code 1 if anything failed.

import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

const steps = [
  { name: 'types', command: 'tsc -b' },
  { name: 'format and lint', command: 'biome ci .' },
  { name: 'typed lint', command: 'oxlint --type-aware' },
  { name: 'unused code', command: 'knip' },
  { name: 'generated files', command: 'node --conditions=reprise-source scripts/compile-sql.ts --check' },
  { name: 'generated scripts', command: 'node --conditions=reprise-source scripts/compile-lua.ts --check' },
  { name: 'API document', command: 'node --conditions=reprise-source scripts/write-operations.ts --check' },
  { name: 'tidy', command: 'vitest run test/tidy' },
]

const env = { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}` }
const results = []

process.stdout.write(`Checking with Node ${process.version}\n`)
for (const { name, command } of steps) {
  process.stdout.write(`\n== ${name}: ${command}\n`)
  const startedAt = performance.now()
  const { status } = spawnSync(command, { cwd: root, env, shell: true, stdio: ['ignore', 'inherit', 'inherit'] })
  results.push({ name, passed: status === 0, seconds: (performance.now() - startedAt) / 1000 })
}

process.stdout.write('\n== summary\n')
for (const { name, passed, seconds } of results) {
  process.stdout.write(`${passed ? 'passed' : 'FAILED'}  ${name.padEnd(16)} ${seconds.toFixed(1)} s\n`)
}
const failed = results.filter((result) => !result.passed)
if (failed.length > 0) {
  process.stdout.write(
    `\n${failed.length} of ${results.length} checks failed. \`npm run fix\` repairs format and lint.\n`,
  )
  process.exitCode = 1
}
