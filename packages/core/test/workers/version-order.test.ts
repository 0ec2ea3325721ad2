// Which version of a worker is the newer one, however applications write them.

import { compareVersions } from '@reprise/core'
import { expect, test } from 'vitest'

test.each([
  ['1', '2'],
  ['1.9', '1.10'],
  ['1.2', '1.2.1'],
  ['1.2.0-rc1', '1.2.0'],
  ['v2.3', '2.4'],
  ['2026.11.16', '2026.11.17'],
  ['build-7', 'build-12'],
])('%s is older than %s', (older, newer) => {
  expect(compareVersions(older, newer)).toBeLessThan(0)
  expect(compareVersions(newer, older)).toBeGreaterThan(0)
})

test('a build of a version is that version', () => {
  expect(compareVersions('1.2.3+abc', '1.2.3')).toBe(0)
  expect(compareVersions('v1.2', '1.2')).toBe(0)
})
