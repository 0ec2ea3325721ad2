// docs/requirements.md has every requirement and says where it is tried. The check sees each way in which it can be wrong.

import { expect, test } from 'vitest'
import { REQUIREMENT_IDS, requirementProblems } from './checks/requirements.ts'
import { readFiles, type SourceFile } from './checks/source.ts'
import { idsOf, titlesOf } from './checks/titles.ts'

test('docs/requirements.md has every id, and a test title for each place that it names', () => {
  const [page] = readFiles('docs/requirements.md')
  const files = readFiles(
    '{packages,examples}/*/test/**/*.test.ts',
    '{attack/test,bench/test,test}/**/*.test.ts',
    'packages/engine-conformance/src/suite/*.ts',
  )
  expect(requirementProblems(page?.text ?? '', files)).toEqual([])
})

const row = (id: string, places = '–', missing = 'all of it') => `| ${id} | in short | ${places} | ${missing} |`
const sample = (text: string): SourceFile => ({ path: 'packages/core/test/health.test.ts', text })
const pageWith = (...rows: readonly string[]) =>
  [...rows, ...REQUIREMENT_IDS.map((id) => row(id)).slice(rows.length)].join('\n')

test('accepts a page that fits', () => {
  const page = pageWith(row('A1', '`core/test/health`', '–'))
  expect(requirementProblems(page, [sample("test('A1: it is kept', () => {})")])).toEqual([])
})

test.each([
  ['a missing row', pageWith('')],
  ['a row for no requirement', `${pageWith()}\n${row('E7')}`],
  ['a row without a test or a word', pageWith(row('A1', '–', '–'))],
  ['a test file that is not there', pageWith(row('A1', '`core/test/gone`'))],
  ['a test file without such a title', pageWith(row('A1', '`core/test/health`'))],
])('refuses %s', (_, page) => {
  expect(requirementProblems(page, [sample("const A1 = 'A1: no title'")])).toHaveLength(1)
})

test.each(['A1: kept', 'A18: unknown'])('refuses a title %j that no row answers for', (title) => {
  expect(requirementProblems(pageWith(), [sample(`test('${title}', () => {})`)])).toHaveLength(1)
})

test('a title is the first text of test, describe or check, also after each', () => {
  const text = "describe('a', () => { test.each([['x']])('b', () => {}); check(`c`); expect('e') })"
  expect(titlesOf(sample(text))).toEqual(['a', 'b', 'c'])
})

test.each([
  ['A4: late', ['A4']],
  ['A4, A16: late', ['A4', 'A16']],
  ['B9 and C10: told', ['B9', 'C10']],
  ['C1–C3: chains', ['C1', 'C2', 'C3']],
  ['A4, fault 17: late', ['A4', 'fault 17']],
  ['fault 25, intruder 8: a page', ['fault 25', 'intruder 8']],
  ['a C4 in the middle', []],
])('%j begins with the ids %j', (title, ids) => {
  expect(idsOf(title)).toEqual(ids)
})
