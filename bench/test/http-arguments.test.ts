import { expect, test } from 'vitest'
import { UsageError } from '../src/arguments.ts'
import { HELP, parseArguments } from '../src/http/arguments.ts'

test('nothing asked for: the defaults, which the help names', () => {
  const { help, json, ...numbers } = parseArguments([])
  expect({ help, json }).toEqual({ help: false, json: false })
  for (const [name, value] of Object.entries(numbers))
    expect(HELP).toMatch(new RegExp(`--${name} N .*default: ${value}`))
})

test.each([
  ['--rounds', '0'],
  ['--seconds', '1.5'],
  ['--connections', '1001'],
  ['--tasks', 'many'],
  ['--speed', '9'],
])('%s %s is refused in words', (...words) => {
  expect(() => parseArguments(words)).toThrow(UsageError)
})

test('help and JSON are flags', () => {
  expect(parseArguments(['--help', '--json', '--rounds', '2'])).toMatchObject({ help: true, json: true, rounds: 2 })
})
