// The registry of errors and docs/errors.md say the same, and the check sees each way in which they can differ.

import { ERRORS } from '@reprise/core'
import { expect, test } from 'vitest'
import { errorDocProblems } from './checks/errors.ts'
import { readFiles } from './checks/source.ts'

test('docs/errors.md describes exactly the errors of the registry', () => {
  const [page] = readFiles('docs/errors.md')
  expect(page, 'docs/errors.md is missing').toBeDefined()
  expect(errorDocProblems(ERRORS, page?.text ?? '')).toEqual([])
})

const registry = { REPRISE_SAMPLE: { status: 409, title: 'A sample' } }
const section = '## REPRISE_SAMPLE\n\nA sample.\n\n**Status:** 409\n\n**What to do:** nothing.\n'

test('accepts a page that fits', () => {
  expect(errorDocProblems(registry, `# Errors\n\n${section}`)).toEqual([])
})

test.each([
  ['a missing section', '# Errors\n'],
  ['a section twice', section + section],
  ['another status', section.replace('409', '500')],
  ['no status', section.replace('**Status:** 409', '')],
  ['no advice', section.replace('**What to do:** nothing.', '')],
  ['a section without a registry entry', `${section}## REPRISE_GONE\n`],
])('refuses %s', (_, markdown) => {
  expect(errorDocProblems(registry, markdown)).toHaveLength(1)
})
