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
    { name: 'claimOne', suffix: 'claim_one', flags: ['allow-oom'], isOnce: false, body: 'return lane(), a' },
    { name: 'look', suffix: 'look', flags: ['no-writes'], isOnce: false, body: "return key('x')" },
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

test('a script that answers once is asked for its first answer before it runs, and keeps it after', () => {
  const compiled = compileLua([script('look', '#!lua', '-- @once', 'return 1, false')], [])
  // Its name comes first where it is defined, and last where the script calls it.
  const called = renderLuaModule(new Map([['library', compiled]]))
    .split('begin(keys, args)\n')
    .at(-1)
  expect(called).toMatch(/^local known = recall\(ARGV\[2\]\)\n[\s\S]*return 1, false\nend\)\(\)\nif isKept == false or/)
})

const facts = {
  constants: { AVOID_MS: 2000, REASON: "it's over", AFTER: { park: 'queued' }, STATUSES: ['queued', 'dead'] },
  records: { LANE: ['turn', 'picks'] },
}

test.each([
  ['a constant', 'return AVOID_MS', 'return 2000'],
  ['a text', 'return REASON', "return 'it\\'s over'"],
  ['a table', 'local after, all = AFTER, STATUSES', "local after, all = { park = 'queued' }, { 'queued', 'dead' }"],
  ['the size of a list', 'return #STATUSES', "return #{ 'queued', 'dead' }"],
  ['a place in a record', 'return was[LANE.picks], ARGV[at + LANE_AT.picks]', 'return was[2], ARGV[at + 1]'],
  ['the size of a record', 'for at = 1, #LANE do', 'for at = 1, 2 do'],
  ['the names of a record', 'return LANE', "return { 'turn', 'picks' }"],
  ['the fields of an array', '{ LANE.fields(was) }', '{ turn = was[1], picks = was[2] }'],
  ['the fields of arguments', '{ LANE.args(at) }', '{ turn = ARGV[at + 0], picks = ARGV[at + 1] }'],
  ['the values of a table', '{ LANE.values(lane) }', '{ lane.turn, lane.picks }'],
  ['nothing in a text', "return 'AVOID_MS'", "return 'AVOID_MS'"],
  ['nothing behind a dot', 'return limits.AVOID_MS', 'return limits.AVOID_MS'],
])('puts facts in their places: %s', (_, line, expected) => {
  const { functions, problems } = compileLua([script('look', '#!lua', line)], [], facts)
  expect(problems).toEqual([])
  expect(functions[0]?.body).toBe(expected)
})

test.each([
  ['a fact that is declared again', 'local AVOID_MS = 2000', "look: AVOID_MS is a fact: don't declare it"],
  ['a record that is declared again', 'local at, LANE', "look: LANE is a fact: don't declare it"],
  ['a field that a record has not', 'return LANE.size', "look: LANE has no field 'size'"],
  ['a name that nobody declares', 'return LOOK_MAX', 'look: LOOK_MAX is neither a fact nor declared'],
])('refuses %s', (_, line, problem) => {
  expect(compileLua([script('look', '#!lua', line)], [], facts).problems).toContain(problem)
})

test('more names at once than Lua allows are refused before a server refuses the library', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `local name${index} = 1`)
  const wide = (count: number): readonly string[] =>
    compileLua(
      [script('look', '#!lua', '-- @include base wide', "return key('x')")],
      [base, file('wide', '-- Many.', ...names(count))],
    ).problems
  // Five of every library, and `key` of the other include.
  expect(wide(194)).toEqual([])
  expect(wide(195)).toEqual([expect.stringContaining('201 names at once, and Lua allows 200')])
})
