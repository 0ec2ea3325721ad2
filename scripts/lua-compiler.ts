// Turns Lua files into one TypeScript module that holds Redis function libraries: the includes they need, then each script
// as a function of its library. Comments and blank lines are taken out. Pure: text in, text or problems out; reading and
// writing files is the part of compile-lua.ts.
//
// An include shares the top-level names that others use and keeps the rest to itself: Lua allows 200 locals at a time.
// A name in capitals that no Lua file declares is a fact or a record of the package's TypeScript (see lua-facts.ts).

import { createHash } from 'node:crypto'
import { type LuaFacts, NO_FACTS, undeclared, withFacts } from './lua-facts.ts'

export interface LuaFile {
  /** The name without folder and extension. */
  readonly name: string
  readonly text: string
}

interface CompiledFunction {
  /** As the scripts' module names it: settleAndClaim. */
  readonly name: string
  /** As the library names it, behind the library's own name: settle_and_claim. */
  readonly suffix: string
  readonly flags: readonly string[]
  /** A repetition, known by the request id in ARGV[2], gets the first answer; unless the script says false behind that. */
  readonly isOnce: boolean
  readonly body: string
}

export interface CompiledLua {
  readonly functions: readonly CompiledFunction[]
  readonly includes: readonly string[]
  /** Each as `name: what is wrong`. When there are any, nothing may be written. */
  readonly problems: readonly string[]
}

const shebang = /^#!lua(?: flags=(?<flags>[a-z,-]+))?$/
const onceLine = /^-- @once$/m
const includeLine = /^-- @include (?<names>.+)$/m
const declaration = /^local (?:function (?<single>\w+)|(?<list>\w+(?:, \w+)*))(?<value> =)?/

/** What comes before the includes: each call sets the keys and arguments, then all that belongs to one call only. */
const PRELUDE = `local KEYS, ARGV
local beginnings = {}
local function atBegin(start)
  beginnings[#beginnings + 1] = start
end
local function begin(keys, args)
  KEYS, ARGV = keys, args
  for index = 1, #beginnings do beginnings[index]() end
end`

/** One library of these scripts; of the includes, it takes those that its scripts name. */
export function compileLua(
  scriptFiles: readonly LuaFile[],
  includeFiles: readonly LuaFile[],
  facts: LuaFacts = NO_FACTS,
): CompiledLua {
  const problems: string[] = []
  const filled = (files: readonly LuaFile[], folder: string): LuaFile[] =>
    files.map(({ name, text }) => ({ name, text: withFacts(`${folder}${name}`, text, facts, problems) }))
  const scripts = filled(scriptFiles, '')
  const includes = filled(includeFiles, 'include/')
  const texts = new Map(includes.map(({ name, text }) => [name, text]))
  const lists = scripts.map(({ text }) => includeLine.exec(text)?.groups?.names?.split(' ') ?? [])
  const order = inOrder(lists, problems)
  for (const name of order) if (!texts.has(name)) problems.push(`there is no include '${name}'`)
  for (const { name, text } of includes) {
    if (!text.startsWith('-- ')) problems.push(`include/${name}: it must open with a comment that says what it is`)
  }
  const functions = scripts.toSorted(byName).map(({ name, text }) => {
    const [first = '', ...rest] = text.split('\n')
    const head = shebang.exec(first)
    if (head === null) problems.push(`${name}: the first line must be '#!lua' or '#!lua flags=...'`)
    if (!rest.slice(0, 2).every((line) => line.startsWith('-- '))) {
      problems.push(`${name}: the contract must follow the first line, as a comment`)
    }
    return {
      name: name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
      suffix: name.replaceAll('-', '_'),
      flags: head?.groups?.flags?.split(',') ?? [],
      isOnce: onceLine.test(text),
      body: stripped(rest.join('\n')),
    }
  })
  const used = [...texts].filter(([name]) => order.includes(name))
  problems.push(...undeclared([...used.map(([name, text]) => ({ name: `include/${name}`, text })), ...scripts]))
  const around = (text: string): string => (onceLine.test(text) ? onceAround(text) : text)
  const words = new Map(
    [...used, ...scripts.map(({ name, text }) => [`${name}.lua`, around(text)] as const)].map(wordsOf),
  )
  const isUsedOutside =
    (include: string) =>
    (name: string): boolean =>
      [...words].some(([other, found]) => other !== include && found.has(name))
  const bodies = order.map((name) => includeBody(texts.get(name) ?? '', isUsedOutside(name)))
  const locals = mostLocals(bodies)
  if (locals > LOCALS_MAX) {
    problems.push(
      `${functions[0]?.name ?? 'a library'} and its neighbours: ${locals} names at once, and Lua allows ${LOCALS_MAX}. Keep names to one include, or move scripts to another library.`,
    )
  }
  return { functions, includes: bodies, problems }
}

/** One library under each of the given names. */
export function renderLuaModule(libraries: ReadonlyMap<string, CompiledLua>): string {
  return [
    '// The Lua of this package as function libraries, compiled from its lua folder. Do not edit: change the .lua files\n',
    '// and run `npm run generate`.\n\n',
    `import type { Library, Script } from './link/link.ts'\n\n`,
    [...libraries].map(([name, compiled]) => renderLibrary(name, compiled)).join('\n'),
  ].join('')
}

function renderLibrary(constant: string, { functions, includes }: CompiledLua): string {
  const library = (name: string): string =>
    [
      `#!lua name=${name}`,
      PRELUDE,
      ...includes,
      ...functions.map(({ suffix, flags, isOnce, body }) =>
        [
          'redis.register_function{',
          `function_name = '${name}_${suffix}', flags = {${flags.map((flag) => `'${flag}'`).join(', ')}},`,
          `callback = function(keys, args)\nbegin(keys, args)\n${isOnce ? onceAround(body) : body}\nend }`,
        ].join(' '),
      ),
    ].join('\n')
  // Named by what it says: workers of different versions can share a server.
  const name = `reprise_${createHash('sha1').update(library('')).digest('hex').slice(0, 12)}`
  const entries = functions.map(
    (compiled) =>
      `export const ${compiled.name}Script: Script = { name: '${name}_${compiled.suffix}', library: ${constant}, readOnly: ${compiled.flags.includes('no-writes')} }\n`,
  )
  return [
    `export const ${constant}: Library = {\n  name: '${name}',\n  text: ${templateLiteral(library(name))},\n}\n\n`,
    entries.join(''),
  ].join('')
}

/** See include/answers.lua. A refusal is no answer. */
const onceAround = (body: string): string => `local known = recall(ARGV[2])
if known then return known end
local answer, isKept = (function()
${body}
end)()
if isKept == false or (type(answer) == 'table' and answer.err) then return answer end
return remember(ARGV[2], answer)`

/** All names of the lists, so that each comes after those that stand before it in any list. */
function inOrder(lists: readonly (readonly string[])[], problems: string[]): string[] {
  const left = new Set(lists.flat())
  const ordered: string[] = []
  while (left.size > 0) {
    const next = [...left].find((name) =>
      lists.every(
        (list) => !list.includes(name) || list.slice(0, list.indexOf(name)).every((before) => !left.has(before)),
      ),
    )
    if (next === undefined) {
      problems.push(`the includes ${[...left].join(', ')} stand in different orders in different scripts`)
      return ordered
    }
    left.delete(next)
    ordered.push(next)
  }
  return ordered
}

/** The words of a file's code. */
const wordsOf = ([name, text]: readonly [string, string]): readonly [string, ReadonlySet<string>] => [
  name,
  new Set(stripped(text).match(/\w+/g)),
]

function includeBody(text: string, isUsedOutside: (name: string) => boolean): string {
  const shared: string[] = []
  const lines = stripped(text)
    .split('\n')
    .flatMap((line) => {
      const groups = declaration.exec(line)?.groups
      const names = groups?.single === undefined ? (groups?.list?.split(', ') ?? []) : [groups.single]
      if (!names.some(isUsedOutside)) return [line]
      shared.push(...names)
      // What is only declared is declared outside; what has a value gets it here.
      return groups?.single === undefined && groups?.value === undefined ? [] : [line.slice('local '.length)]
    })
  return [shared.length === 0 ? '' : `local ${shared.join(', ')}`, 'do', ...lines, 'end'].join('\n')
}

/** Of Lua itself. A library with more does not load. */
const LOCALS_MAX = 200
const localLine = /^local (?:function )?(?<names>\w+(?:, \w+)*)/gm

/** How many names there are where most are: all that were shared up to an include, and what it keeps to itself. */
function mostLocals(includes: readonly string[]): number {
  let shared = countLocals(PRELUDE)
  return Math.max(
    shared,
    ...includes.map((body) => {
      const inner = body.indexOf('do\n')
      shared += countLocals(body.slice(0, inner))
      return shared + countLocals(body.slice(inner))
    }),
  )
}

const countLocals = (text: string): number =>
  [...text.matchAll(localLine)].reduce((sum, { groups }) => sum + (groups?.names?.split(', ').length ?? 0), 0)

const byName = (a: LuaFile, b: LuaFile): number => (a.name < b.name ? -1 : 1)

/** Without comment lines and blank lines. Comments stand on lines of their own. */
function stripped(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('--'))
    .join('\n')
}

function templateLiteral(text: string): string {
  return `\`${text.replace(/\\|`|\$\{/g, '\\$&')}\``
}
