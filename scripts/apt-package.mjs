// Installs one package of Debian or Ubuntu for a set-up script, as root or with a sudo that asks for no password, or ends the process
// with what somebody can do by hand. Like setup.mjs it runs on whatever Node the machine has and uses no dependency.

import { spawnSync } from 'node:child_process'

/**
 * Ends the process. With `--optional`, not getting something is said, but is no failure.
 * @param {string} message
 * @param {{ readonly optional: string, readonly needed: string }} meaning what it means that it is not there
 * @returns {never}
 */
export function giveUp(message, { optional, needed }) {
  const isOptional = process.argv.includes('--optional')
  process.stderr.write(`setup: ${message} ${isOptional ? optional : needed}\n`)
  process.exit(isOptional ? 0 : 1)
}

/**
 * @param {string} command
 * @param {string[]} args
 */
const succeeds = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

/**
 * Every step has a limit, so that a package server that does not answer stops nobody for long.
 * @param {string} name
 * @param {{ readonly before?: string, readonly after?: string }} around shell commands
 */
const installation = (name, { before = '', after = '' }) => `
set -u
export DEBIAN_FRONTEND=noninteractive
${before}
apt() {
  timeout 300 apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \\
    -o DPkg::Lock::Timeout=120 "$@" </dev/null
}
add() { apt install -y --no-install-recommends ${name}; }
add || { apt update && add; } || exit 1
${after}
`

/**
 * @param {object} wanted
 * @param {string} wanted.name of the package
 * @param {string} wanted.lasts how long it takes, in words
 * @param {string} wanted.byHand what somebody can do who reads it
 * @param {{ readonly optional: string, readonly needed: string }} wanted.meaning
 * @param {{ readonly before?: string, readonly after?: string }} [wanted.around]
 */
export function installPackage({ name, lasts, byHand, meaning, around = {} }) {
  if (!succeeds('apt-get', '--version')) {
    giveUp(`${name} is missing, and there is no apt-get here that could install it. ${byHand}.`, meaning)
  }
  const isRoot = process.getuid?.() === 0
  if (!isRoot && !succeeds('sudo', '-n', 'true')) {
    giveUp(`${name} is missing, and installing it takes root. Run: sudo apt-get install ${name}.`, meaning)
  }
  process.stdout.write(`setup: ${name} is missing, installing it with apt-get (${lasts})\n`)
  const shell = ['sh', '-c', installation(name, around)]
  const [command = '', ...args] = isRoot ? shell : ['sudo', '-n', ...shell]
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error || status !== 0) {
    const output = error ? error.message : `${stdout}${stderr}`.trim().split('\n').slice(-15).join('\n')
    process.stderr.write(`${output}\n`)
    giveUp(`${name} could not be installed; what was said about it is above. ${byHand}.`, meaning)
  }
}
