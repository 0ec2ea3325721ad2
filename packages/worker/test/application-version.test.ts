// The version that a worker has if nobody names one: that of the nearest package.json.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { applicationVersion } from '../src/application-version.ts'

/** A folder with these package.json, by the folder that they stand in. */
function folderWith(manifests: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-version-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(manifests)) {
    mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, path, 'package.json'), text)
  }
  return folder
}

test('the nearest one that has a version counts', () => {
  const folder = folderWith({ '.': '{"version":"1.0.0"}', app: '{"version":"2.4.0"}', 'app/src': '{"type":"module"}' })
  expect(applicationVersion([join(folder, 'app', 'src')])).toBe('2.4.0')
  expect(applicationVersion([join(folder, 'app', 'not', 'there')])).toBe('2.4.0')
  expect(applicationVersion([folder])).toBe('1.0.0')
})

test('of several folders the first that has one', () => {
  const [one, other] = [folderWith({ '.': '{}' }), folderWith({ '.': '{"version":"3.0.0"}' })]
  expect(applicationVersion([one, other])).toBe('3.0.0')
})

test.each(['', 'not JSON', 'null', '[]', '{"version":7}', '{"version":""}', `{"version":"${'9'.repeat(200)}"}`])(
  'what is no version is passed over: %s',
  (text) => {
    const folder = folderWith({ '.': '{"version":"1.2.3"}', app: text })
    expect(applicationVersion([join(folder, 'app')])).toBe('1.2.3')
    expect(applicationVersion([])).toBe(null)
  },
)
