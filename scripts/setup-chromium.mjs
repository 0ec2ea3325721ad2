// Installs chromium when it is missing, from the packages of Debian, and does nothing otherwise: the tests of the console
// look at it in a real browser. Like setup.mjs it runs on whatever Node the machine has and uses no dependency. With
// `--optional`, not getting it is said, but is no failure: the tests then say what they leave out.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const PROGRAM = '/usr/bin/chromium'
const isOptional = process.argv.includes('--optional')

/** @param {string} message */
function giveUp(message) {
  const who = isOptional ? 'Tests that need a browser are left out.' : 'These tests need it.'
  process.stderr.write(`setup: ${message} ${who}\n`)
  process.exit(isOptional ? 0 : 1)
}

/**
 * @param {string} command
 * @param {string[]} args
 */
const succeeds = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

// Every step has a limit, so that a package server that does not answer stops nobody for long.
const installation = `
set -u
export DEBIAN_FRONTEND=noninteractive
apt() {
  timeout 300 apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \\
    -o DPkg::Lock::Timeout=120 "$@" </dev/null
}
add() { apt install -y --no-install-recommends chromium; }
add || { apt update && add; } || exit 1
`

function install() {
  const byHand = `Install chromium as ${PROGRAM}, or name another Chromium in REPRISE_CHROMIUM, and try again`
  if (!succeeds('apt-get', '--version')) {
    giveUp(`chromium is missing, and there is no apt-get here that could install it. ${byHand}.`)
  }
  const isRoot = process.getuid?.() === 0
  if (!isRoot && !succeeds('sudo', '-n', 'true')) {
    giveUp('chromium is missing, and installing it takes root. Run: sudo apt-get install chromium.')
  }
  process.stdout.write('setup: chromium is missing, installing it with apt-get (about a minute)\n')
  const shell = ['sh', '-c', installation]
  const [command = '', ...args] = isRoot ? shell : ['sudo', '-n', ...shell]
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error || status !== 0) {
    const output = error ? error.message : `${stdout}${stderr}`.trim().split('\n').slice(-15).join('\n')
    process.stderr.write(`${output}\n`)
    giveUp(`chromium could not be installed; what was said about it is above. ${byHand}.`)
  }
}

if (process.env.REPRISE_CHROMIUM === undefined && !existsSync(PROGRAM)) install()
