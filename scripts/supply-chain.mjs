// Looks at what we depend on: known weaknesses (npm audit), signatures of the registry (npm audit signatures), and a list of
// parts as CycloneDX (npm sbom), which `--sbom <file>` writes. A registry that does not offer a check, or that can't be
// reached, is told apart from a check that found something: only the latter is an error, unless `--strict` is given.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What npm says when the registry has no such service, or there is no way to it. */
const NOT_POSSIBLE =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOAUDIT|E40[0-9]|E50[0-9]|NOT_IMPLEMENTED|audit endpoint returned an error|No dependencies to audit|found no dependencies to audit|don't support|not supported/i

/** Without a network nobody should wait for minutes to hear so. */
const IMPATIENT = ['--fetch-retries=0', '--fetch-timeout=30000']

const args = process.argv.slice(2)
const isStrict = args.includes('--strict')
const sbomFile = args.includes('--sbom') ? args[args.indexOf('--sbom') + 1] : undefined
if (args.includes('--sbom') && sbomFile === undefined) fail('--sbom needs the name of a file.')

const steps = [
  { name: 'known weaknesses', command: ['audit', '--audit-level=moderate'] },
  { name: 'signatures of the registry', command: ['audit', 'signatures'] },
]

/** @param {string} message */
function fail(message) {
  process.stderr.write(`supply-chain: ${message}\n`)
  process.exit(2)
}

/** @param {readonly string[]} command */
function npm(command) {
  const { status, stdout, stderr, error } = spawnSync('npm', [...command, ...IMPATIENT], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (error !== undefined) fail(`npm could not be started: ${error.message}`)
  return { isGood: status === 0, stdout, stderr }
}

let found = 0
let skipped = 0
for (const { name, command } of steps) {
  const { isGood, stdout, stderr } = npm(command)
  const said = `${stdout}\n${stderr}`.trim()
  if (isGood) process.stdout.write(`passed        ${name}\n`)
  else if (NOT_POSSIBLE.test(said)) {
    skipped++
    const [why = 'npm did not say why'] = said.split('\n').filter((line) => NOT_POSSIBLE.test(line))
    process.stdout.write(`not possible  ${name}: the registry does not offer it, or can't be reached (${why.trim()})\n`)
  } else {
    found++
    process.stdout.write(`FAILED        ${name}\n${said}\n`)
  }
}

const { isGood, stdout, stderr } = npm(['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'])
if (!isGood) {
  found++
  process.stdout.write(`FAILED        list of parts\n${stderr.trim()}\n`)
} else {
  const { components } = /** @type {{ components: unknown[] }} */ (JSON.parse(stdout))
  if (sbomFile !== undefined) writeFileSync(sbomFile, stdout)
  const where = sbomFile === undefined ? 'write it with --sbom <file>' : `in ${sbomFile}`
  process.stdout.write(`passed        list of parts: ${components.length} in CycloneDX, ${where}\n`)
}

if (found > 0) process.exitCode = 1
else if (skipped > 0 && isStrict) fail(`${skipped} of ${steps.length} checks were not possible.`)
