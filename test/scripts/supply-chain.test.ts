// The script that looks at what we depend on, with an npm that says what a test wants: the registry is not asked.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const script = fileURLToPath(new URL('../../scripts/supply-chain.mjs', import.meta.url))
const SBOM = '{"bomFormat":"CycloneDX","components":[{"name":"a"},{"name":"b"}]}'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-supply-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** What npm does for `audit`, `audit signatures` and `sbom`, as lines of a shell. */
function look({ audit = 'exit 0', signatures = 'exit 0' }, ...args: string[]) {
  const sbom = `echo '${SBOM}'`
  const text = `#!/bin/sh\nif [ "$2" = signatures ]; then ${signatures}\nelif [ "$1" = sbom ]; then ${sbom}\nelse ${audit}\nfi\n`
  writeFileSync(join(folder, 'npm'), text, { mode: 0o755 })
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    env: { PATH: `${folder}:/usr/bin:/bin` },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test('all is well, and the list of parts is written where it is wanted', () => {
  const file = join(folder, 'sbom.json')
  const { status, stdout } = look({}, '--sbom', file)
  expect([status, stdout.match(/^passed/gm)?.length]).toEqual([0, 3])
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ bomFormat: 'CycloneDX' })
})

test('a weakness is an error, and is shown', () => {
  const { status, stdout } = look({ audit: 'echo "left-pad  high: it pads"; exit 1' })
  expect([status, stdout]).toEqual([1, expect.stringContaining('left-pad  high: it pads')])
})

test.each([
  'npm error audit endpoint returned an error',
  'npm error code ENOTFOUND',
  'npm error code E404',
  'npm error code ECONNREFUSED',
])('a registry that can not say is told apart from a weakness: %s', (said) => {
  const off = { audit: `echo "${said}" >&2; exit 1`, signatures: `echo "${said}" >&2; exit 1` }
  const { status, stdout } = look(off)
  expect([status, stdout.match(/^not possible .*does not offer it/gm)?.length]).toEqual([0, 2])
  expect(look(off, '--strict')).toMatchObject({ status: 2, stderr: expect.stringContaining('2 of 2') as unknown })
})

test('a bad signature is an error', () => {
  const { status, stdout } = look({ signatures: 'echo "1 package has an invalid registry signature" >&2; exit 1' })
  expect([status, stdout]).toEqual([1, expect.stringContaining('invalid registry signature')])
})
