// What the command line of the attacks understands, and what it says of the rest.

import { expect, test } from 'vitest'
import { helpText, parseArguments, UsageError } from '../src/arguments.ts'

const SUBJECTS = { loop: ['costly-patterns'], leaks: ['search-for-a-secret'] }
const parse = (...words: string[]) => parseArguments(words, SUBJECTS, 7)

test('without a word, everything is tried on the embedded engine with a seed that was drawn', () => {
  expect(parse()).toEqual({ engine: 'sqlite', only: [], seed: 7, json: false, help: false })
})

test('cases and subjects can be chosen, and a run can be repeated', () => {
  const wanted = { engine: 'redis', only: ['loop', 'search-for-a-secret'], seed: 42, json: true }
  expect(parse('--engine', 'redis', '--only', 'loop, search-for-a-secret', '--seed', '42', '--json')).toMatchObject(
    wanted,
  )
})

test.each([['--engine', 'mysql'], ['--only', 'nothing'], ['--seed', 'x'], ['--seed', '99999999999'], ['--what']])(
  'refuses %s %s',
  (...words) => {
    expect(() => parse(...words)).toThrow(UsageError)
  },
)

test('the help names every case', () => {
  expect(helpText(SUBJECTS)).toContain('leaks: search-for-a-secret')
})
