// What comes along with us is pinned, known by its licence and checksum, and what we publish says its own licence.

import { expect, test } from 'vitest'
import { readFiles } from './checks/source.ts'
import { copyProblems, integrityProblems, licenceProblems, pinProblems } from './checks/supply-chain.ts'

const manifests = readFiles('package.json', '{packages,examples}/*/package.json', '{bench,test}/package.json')
const [lockfile = { path: '', text: '' }] = readFiles('package-lock.json')
const [licence = { path: '', text: '' }] = readFiles('LICENSE')

const file = (value: object, path = 'packages/x/package.json') => ({ path, text: JSON.stringify(value) })
const lock = (name: string, fields: object) => file({ packages: { '': {}, [`node_modules/${name}`]: fields } })

test('every dependency is pinned to an exact version', () => {
  expect(manifests.length).toBeGreaterThan(10)
  expect(pinProblems(manifests)).toEqual([])
})

test('every package that is installed has a licence that we allow, and a checksum', () => {
  expect(licenceProblems(lockfile)).toEqual([])
  expect(integrityProblems(lockfile)).toEqual([])
})

test('every package that is published carries our licence', () => {
  const published = readFiles('packages/*/package.json')
  expect(copyProblems(published, readFiles('packages/*/LICENSE'), licence.text)).toEqual([])
})

test.each(['^1.2.3', '~1.2.3', '>=1', '*', 'latest', '1.x', 'git+https://example.com/a.git', 'file:../a'])(
  'refuses the version %s',
  (version) => {
    expect(pinProblems([file({ dependencies: { a: version } })])).toHaveLength(1)
    expect(pinProblems([file({ devDependencies: { a: version } })])).toHaveLength(1)
    expect(pinProblems([file({ peerDependencies: { a: version } })])).toEqual([])
  },
)

test.each(['GPL-3.0-only', 'AGPL-3.0', 'SEE LICENSE IN LICENSE', 'MIT AND GPL-2.0', 'MPL-2.0', 'UNLICENSED'])(
  'refuses the licence %s',
  (license) => expect(licenceProblems(lock('a', { license }))).toHaveLength(1),
)

test.each(['MIT', '(MIT OR GPL-3.0-only)', 'MIT OR Apache-2.0', 'BSD-3-Clause AND MIT'])('takes %s', (license) => {
  expect(licenceProblems(lock('a', { license }))).toEqual([])
})

test('refuses a package without a licence or a checksum, also deep down', () => {
  expect(licenceProblems(lock('a/node_modules/@b/c', {}))).toEqual([expect.stringMatching(/^@b\/c says no licence/)])
  expect(integrityProblems(lock('a', { license: 'MIT' }))).toHaveLength(1)
})

test('refuses a published package without our licence, or with another one', () => {
  const published = [file({ name: 'x' })]
  expect(copyProblems(published, [], 'ours')).toHaveLength(1)
  expect(copyProblems(published, [{ path: 'packages/x/LICENSE', text: 'other' }], 'ours')).toHaveLength(1)
  expect(copyProblems(published, [{ path: 'packages/x/LICENSE', text: 'ours' }], 'ours')).toEqual([])
  expect(copyProblems([file({ private: true })], [], 'ours')).toEqual([])
})
