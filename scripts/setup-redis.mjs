// Installs redis-server when it is missing, and does nothing otherwise: the tests and the benchmark start servers of their own with
// it. With `--optional`, not getting it is said, but is no failure.
//
// The package brings a service with it that would start by itself and at every boot. Only the program is wanted, so
// the service is kept from starting, and is switched off.

import { spawnSync } from 'node:child_process'
import { giveUp, installPackage } from './apt-package.mjs'

const MIN_VERSION = 7
const MEANING = { optional: 'What uses Redis will not run.', needed: 'The tests need it.' }

/** The major version of the redis-server in the PATH; undefined when there is none. */
function installedVersion() {
  const { error, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  if (error) return undefined
  return Number(/v=(\d+)\./.exec(stdout)?.[1] ?? 0)
}

// policy-rc.d is how Debian asks whether a package may start its service; 101 means no. One that is there already is
// left as it is.
const before = `
case "$(dpkg-query -W -f '\${db:Status-Abbrev}' redis-server 2>/dev/null)" in
  ii*) echo 'The package redis-server is installed, but its program is not in the PATH.'; exit 1 ;;
esac

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ] && [ ! -L "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\\nexit 101\\n' >"$policy" && chmod 755 "$policy" || exit 1
fi
`

const after = `
if [ -d /run/systemd/system ]; then
  systemctl disable --now redis-server
else
  service redis-server stop
  update-rc.d redis-server disable
fi
exit 0
`

if (installedVersion() === undefined) {
  installPackage({
    name: 'redis-server',
    lasts: 'about half a minute',
    byHand: `Install Redis ${MIN_VERSION} or newer so that redis-server is in the PATH, and try again`,
    meaning: MEANING,
    around: { before, after },
  })
}
const version = installedVersion() ?? 0
if (version < MIN_VERSION) {
  giveUp(
    `the redis-server in the PATH is version ${version}, and ${MIN_VERSION} or newer is needed. ` +
      'Put a newer one before it in the PATH.',
    MEANING,
  )
}
