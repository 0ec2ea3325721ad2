// Files of the workspace have the shape we agreed on, and each check sees a file that has not.

import { expect, test } from 'vitest'
import {
  lengthProblems,
  looseEndProblems,
  nameProblems,
  openingProblems,
  switchedOffTestProblems,
} from './checks/files.ts'
import { readFiles } from './checks/source.ts'

const code = readFiles('{packages,attack,bench,examples,test,scripts}/**/*.{ts,tsx,mjs,sql,lua}', '*.ts')
const sample = (text: string, path = 'packages/core/src/sample.ts') => [{ path, text }]

test('no file is too long', () => {
  expect(code.length).toBeGreaterThan(0)
  expect(lengthProblems(code)).toEqual([])
})

test('every module opens with a paragraph', () => {
  expect(openingProblems(code)).toEqual([])
})

test('no file or folder is a bucket', () => {
  expect(nameProblems(readFiles('{packages,attack,bench,examples,test,scripts,docs}/**/*'))).toEqual([])
})

test('no loose ends', () => {
  expect(looseEndProblems(code)).toEqual([])
})

test('no test is switched off', () => {
  expect(switchedOffTestProblems(code)).toEqual([])
})

test('refuses a file of 401 lines, unless it is generated', () => {
  expect(lengthProblems(sample('x\n'.repeat(401)))).toHaveLength(1)
  expect(lengthProblems(sample('x\n'.repeat(400)))).toEqual([])
  expect(lengthProblems(sample('x\n'.repeat(401), 'packages/core/src/sql.generated.ts'))).toEqual([])
})

test('refuses a module without an opening paragraph', () => {
  expect(openingProblems(sample('export {}'))).toHaveLength(1)
  expect(openingProblems(sample('// Ids.\nexport {}'))).toHaveLength(1)
  expect(openingProblems(sample('export {}\n// Said too late, after the code has started already.'))).toHaveLength(1)
  expect(openingProblems(sample('// What this module is for,\n// and what it is not.\nexport {}'))).toEqual([])
  expect(openingProblems(sample('#!/usr/bin/env node\n/** What this module is for. */\nexport {}'))).toEqual([])
})

test.each(['packages/core/src/utils.ts', 'packages/core/src/common/ids.ts', 'test/helpers.test.ts', 'docs/Misc/a.md'])(
  'refuses the name %s',
  (path) => {
    expect(nameProblems(sample('', path))).toHaveLength(1)
  },
)

test('lets through a name that only contains such a word', () => {
  expect(nameProblems(sample('', 'packages/core/src/common-cause.ts'))).toEqual([])
})

test('refuses loose ends, in comments and in files that are not code', () => {
  expect(looseEndProblems(sample('// TODO: later'))).toHaveLength(1)
  expect(looseEndProblems(sample('/* one\n FIXME */'))).toEqual([expect.stringContaining('sample.ts:2')])
  expect(looseEndProblems(sample('-- TODO: later', 'packages/engine-sqlite/sql/tasks.sql'))).toHaveLength(1)
  expect(looseEndProblems(sample("const text = 'TODO'"))).toEqual([])
})

test.each(["test.only('x')", "it.skip('x')", "describe.concurrent.only('x')", "test.skip.each([1])('x')"])(
  'refuses %s',
  (text) => {
    expect(switchedOffTestProblems(sample(text, 'test/sample.test.ts'))).toHaveLength(1)
  },
)

test('lets through a test that depends on the machine, and other uses of the words', () => {
  expect(switchedOffTestProblems(sample("test.skipIf(slow)('x'); cursor.skip(2)", 'test/sample.test.ts'))).toEqual([])
})
