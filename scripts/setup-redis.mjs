// Installs redis-server when it is missing, from the packages of Debian or Ubuntu, and does nothing otherwise: the
// tests and the benchmark start servers of their own with it. Like setup.mjs it runs on whatever Node the machine has
// and uses no dependency. With `--optional`, not getting it is said, but is no failure.
//
// The package brings a service with it that would start by itself and at every boot. Only the program is wanted, so
// the service is kept from starting, and is switched off.

import { spawnSync } from 'node:child_process'

const minVersion = 7
const isOptional = process.argv.includes('--optional')

/** @param {string} message */
function giveUp(message) {
  const who = isOptional ? 'What uses Redis will not run.' : 'The tests need it.'
  process.stderr.write(`setup: ${message} ${who}\n`)
  process.exit(isOptional ? 0 : 1)
}

/** The major version of the redis-server in the PATH; undefined when there is none. */
function installedVersion() {
  const { error, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  if (error) return undefined
  return Number(/v=(\d+)\./.exec(stdout)?.[1] ?? 0)
}

/**
 * @param {string} command
 * @param {string[]} args
 */
const succeeds = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0

// policy-rc.d is how Debian asks whether a package may start its service; 101 means no. One that is there already is
// left as it is. Every step has a limit, so that a package server that does not answer stops nobody for long.
const installation = `
set -u
export DEBIAN_FRONTEND=noninteractive
case "$(dpkg-query -W -f '\${db:Status-Abbrev}' redis-server 2>/dev/null)" in
  ii*) echo 'The package redis-server is installed, but its program is not in the PATH.'; exit 1 ;;
esac

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ] && [ ! -L "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy" || exit 1
fi

apt() {
  timeout 300 apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \\
    -o DPkg::Lock::Timeout=120 "$@" </dev/null
}
add() { apt install -y --no-install-recommends redis-server; }
add || { apt update && add; } || exit 1

if [ -d /run/systemd/system ]; then
  systemctl disable --now redis-server
else
  service redis-server stop
  update-rc.d redis-server disable
fi
exit 0
`

function install() {
  const byHand = `Install Redis ${minVersion} or newer so that redis-server is in the PATH, and try again`
  if (!succeeds('apt-get', '--version')) {
    giveUp(`redis-server is missing, and there is no apt-get here that could install it. ${byHand}.`)
  }
  const isRoot = process.getuid?.() === 0
  if (!isRoot && !succeeds('sudo', '-n', 'true')) {
    giveUp('redis-server is missing, and installing it takes root. Run: sudo apt-get install redis-server.')
  }

  process.stdout.write('setup: redis-server is missing, installing it with apt-get (about half a minute)\n')
  const shell = ['sh', '-c', installation]
  const [command = '', ...args] = isRoot ? shell : ['sudo', '-n', ...shell]
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (error || status !== 0) {
    const output = error ? error.message : `${stdout}${stderr}`.trim().split('\n').slice(-15).join('\n')
    process.stderr.write(`${output}\n`)
    giveUp(`redis-server could not be installed; what was said about it is above. ${byHand}.`)
  }
}

if (installedVersion() === undefined) install()
const version = installedVersion() ?? 0
if (version < minVersion) {
  giveUp(
    `the redis-server in the PATH is version ${version}, and ${minVersion} or newer is needed. ` +
      'Put a newer one before it in the PATH.',
  )
}
