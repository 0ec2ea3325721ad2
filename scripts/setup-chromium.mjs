// Installs chromium when it is missing, and does nothing otherwise: the tests of the console look at it in a real browser. With
// `--optional`, not getting it is said, but is no failure: the tests then say what they leave out.

import { existsSync } from 'node:fs'
import { installPackage } from './apt-package.mjs'

const PROGRAM = '/usr/bin/chromium'

if (process.env.REPRISE_CHROMIUM === undefined && !existsSync(PROGRAM)) {
  installPackage({
    name: 'chromium',
    lasts: 'about a minute',
    byHand: `Install chromium as ${PROGRAM}, or name another Chromium in REPRISE_CHROMIUM, and try again`,
    meaning: { optional: 'Tests that need a browser are left out.', needed: 'These tests need it.' },
  })
}
