// Facts that two languages need have one home, and the checks see each way of typing one again.

import { expect, test } from 'vitest'
import { retypedConstants, sentencesInTwoLanguages } from './checks/facts.ts'
import { readFiles, type SourceFile } from './checks/source.ts'

const isWritten = ({ path }: SourceFile): boolean => !path.includes('.generated.')
const files = readFiles(
  'packages/core/src/**/*.ts',
  'packages/engine-*/src/*.ts',
  'packages/engine-redis/src/**/*.ts',
  'packages/engine-conformance/src/model/*.ts',
  'packages/engine-*/lua/**/*.lua',
  'packages/engine-*/sql/*.sql',
).filter(isWritten)

test('no constant of core is typed again in an engine or in the model', () => {
  expect(files.filter(({ path }) => path.endsWith('.lua')).length).toBeGreaterThan(50)
  expect(retypedConstants(files)).toEqual([])
})

test('no words for people are typed in two languages', () => {
  expect(sentencesInTwoLanguages(files)).toEqual([])
})

const core = { path: 'packages/core/src/engine.ts', text: 'export const AVOID_MS = 2_000\nconst INNER = 3\n' }

test.each([
  ['in Lua', 'packages/engine-redis/lua/include/avoiding.lua', 'local AVOID_MS = 2000'],
  ['inside a function', 'packages/engine-redis/lua/claim.lua', '  local AVOID_MS = 2000'],
  ['in an engine', 'packages/engine-sqlite/src/claim.ts', 'export const AVOID_MS: number = 2_000'],
  ['in the model', 'packages/engine-conformance/src/model/avoid.ts', 'const AVOID_MS = 1'],
])('a constant of core %s is found', (_, path, text) => {
  expect(retypedConstants([core, { path, text }])).toEqual([
    `${path}:1: AVOID_MS is a constant of core: take it from there`,
  ])
})

test('a name that core keeps to itself, and a use of a constant, are no problem', () => {
  const text = 'local INNER = 3\nreturn AVOID_MS\n'
  expect(retypedConstants([core, { path: 'packages/engine-redis/lua/claim.lua', text }])).toEqual([])
})

test.each([
  ['a text', "const reason = 'kept long enough'"],
  ['a part of a template', 'const reason = `task $' + '{id} kept long enough.`'],
])('words that Lua and TypeScript share are found: %s', (_, text) => {
  const lua = { path: 'packages/engine-redis/lua/retain.lua', text: "-- kept long enough\nnote('kept long enough')" }
  const ts = { path: 'packages/engine-sqlite/src/retention.ts', text }
  expect(sentencesInTwoLanguages([lua, ts])).toEqual([
    "packages/engine-redis/lua/retain.lua:2: 'kept long enough' is said in TypeScript too: let the compiler put it here",
  ])
})
