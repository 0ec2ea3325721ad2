// The Lua compiler: what a library is made of, what an include shares, and each mistake it must refuse.

import { expect, test } from 'vitest'
import { compileLua, type LuaFile, renderLuaModule } from '../../scripts/lua-compiler.ts'

const file = (name: string, ...lines: string[]): LuaFile => ({ name, text: lines.join('\n') })

const base = file('base', '-- What all share.', 'local count = 0', 'local function key(name)', '  return name', 'end')
const lanes = file(
  'lanes',
  '-- Lanes.',
  'local inner = 1',
  'local a, b',
  'local function lane()',
  '  return key(inner)',
  'end',
)
const script = (name: string, first: string, ...rest: string[]) =>
  file(name, first, '-- What it does.', '-- ARGV: none.', '', ...rest)

test('a library has the includes its scripts name, in an order that fits all, and each script as a function', () => {
  const compiled = compileLua(
    [
      script('claim-one', '#!lua flags=allow-oom', '-- @include base lanes', 'return lane(), a'),
      script('look', '#!lua flags=no-writes', '-- @include base', '-- A comment.', '', "return key('x')"),
    ],
    [lanes, base],
  )
  expect(compiled.problems).toEqual([])
  expect(compiled.functions).toEqual([
    { name: 'claimOne', suffix: 'claim_one', flags: ['allow-oom'], body: 'return lane(), a' },
    { name: 'look', suffix: 'look', flags: ['no-writes'], body: "return key('x')" },
  ])
  // What nobody else uses stays inside; what is only declared is declared outside.
  expect(compiled.includes).toEqual([
    ['local key', 'do', 'local count = 0', 'function key(name)', '  return name', 'end', 'end'].join('\n'),
    ['local a, b, lane', 'do', 'local inner = 1', 'function lane()', '  return key(inner)', 'end', 'end'].join('\n'),
  ])
})

test('the module names libraries and functions by what they say', () => {
  const render = (body: string) =>
    renderLuaModule(new Map([['library', compileLua([script('look', '#!lua flags=no-writes', body)], [])]]))
  expect(render('return 1')).toMatch(
    /export const lookScript: Script = \{ name: 'reprise_\w{12}_look', library: library, readOnly: true \}/,
  )
  const nameIn = (text: string) => /name: '(reprise_\w+?)'/.exec(text)?.[1]
  expect(nameIn(render('return 1'))).toBe(nameIn(render('return 1')))
  expect(nameIn(render('return 1'))).not.toBe(nameIn(render('return 2')))
})

test.each([
  [
    'a first line that is something else',
    [file('look', 'return 1', '-- What.', '-- ARGV.')],
    "look: the first line must be '#!lua'",
  ],
  ['a missing contract', [file('look', '#!lua', 'return 1')], 'look: the contract must follow'],
  ['an include that is not there', [script('look', '#!lua', '-- @include nothing')], "there is no include 'nothing'"],
  [
    'includes in two orders',
    [script('one', '#!lua', '-- @include base lanes'), script('two', '#!lua', '-- @include lanes base')],
    'stand in different orders',
  ],
])('refuses %s', (_, scripts, problem) => {
  expect(compileLua(scripts, [base, lanes]).problems.join()).toContain(problem)
})

test('refuses an include that does not say what it is', () => {
  const silent = file('silent', 'local x = 1')
  expect(compileLua([script('look', '#!lua', '-- @include silent')], [silent]).problems).toEqual([
    'include/silent: it must open with a comment that says what it is',
  ])
})
