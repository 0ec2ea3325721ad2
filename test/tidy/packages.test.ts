// What is published is described in full, and the check sees what is missing.

import { VERSION } from '@reprise/core'
import { expect, test } from 'vitest'
import { packageProblems } from './checks/packages.ts'
import { readFiles } from './checks/source.ts'

const good = {
  name: '@reprise/x',
  version: '1.0.0',
  description: 'X.',
  keywords: ['reprise'],
  repository: { url: 'git+https://example.com/x.git', directory: 'packages/x' },
  publishConfig: { access: 'public' },
  engines: { node: '>=24' },
  files: ['dist', '!dist/.tsbuildinfo'],
  exports: { '.': { 'reprise-source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' } },
  dependencies: { '@reprise/core': '1.0.0', zod: '4.6.7' },
}
const readme = { path: 'packages/x/README.md', text: '# @reprise/x\n\nX.\n' }
const problemsOf = (manifest: object, readmes = [readme]): string[] =>
  packageProblems([{ path: 'packages/x/package.json', text: JSON.stringify(manifest) }], readmes, '1.0.0')

test('every package that is published says what it is and where it comes from, in one version', () => {
  const manifests = readFiles('packages/*/package.json')
  expect(manifests.map(({ path }) => path)).toContain('packages/reprise/package.json')
  expect(packageProblems(manifests, readFiles('packages/*/README.md'), VERSION)).toEqual([])
})

test.each([
  { version: '1.0.1' },
  { dependencies: { '@reprise/core': '0.9.0' } },
  { peerDependencies: { '@reprise/core': '0.9.0' } },
  { description: '' },
  { keywords: ['tasks'] },
  { repository: { url: 'git+https://example.com/x.git', directory: 'packages/y' } },
  { repository: { directory: 'packages/x' } },
  { publishConfig: {} },
  { engines: { node: '>=20' } },
  { files: ['dist'] },
  { exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } } },
  { exports: { '.': { 'reprise-source': './src/index.ts', default: './dist/index.js', types: './dist/index.d.ts' } } },
])('refuses %j', (change) => expect(problemsOf({ ...good, ...change })).toHaveLength(1))

test('refuses a package without a README, or with that of another one', () => {
  expect(problemsOf(good)).toEqual([])
  expect(problemsOf(good, [])).toHaveLength(1)
  expect(problemsOf(good, [{ ...readme, text: '# @reprise/xy\n' }])).toHaveLength(1)
  expect(problemsOf({ private: true }, [])).toEqual([])
})
