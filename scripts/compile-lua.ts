// Writes packages/engine-redis/src/scripts.generated.ts from the .lua files of that package. With --check it writes
// nothing and exits with 1 if the file is not what it would write.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CompiledLua, compileLua, type LuaFile, renderLuaModule } from './lua-compiler.ts'
import { REDIS_FACTS } from './redis-facts.ts'

const root = join(import.meta.dirname, '..')
const luaFolder = 'packages/engine-redis/lua'
const outputPath = 'packages/engine-redis/src/scripts.generated.ts'

/** What runs for every task. It has a library of its own: Lua allows 200 locals at a time, and a call pays for each that is reset. */
const HOT: ReadonlySet<string> = new Set(['submit', 'claim', 'settle', 'settle-and-claim', 'renew'])

/** What puts holds and limits on lanes and lifts them: another, for room. */
const GATES: ReadonlySet<string> = new Set(['pause', 'resume', 'limit', 'lift', 'share', 'share-end', 'share-limit'])

/** Inspection has one too: it is seldom called, and knows nearly everything. */
const isInspection = (name: string): boolean => name.startsWith('inspect-')

function readLuaFiles(folder: string): LuaFile[] {
  return readdirSync(join(root, folder))
    .filter((file) => file.endsWith('.lua'))
    .map((file) => ({ name: file.slice(0, -'.lua'.length), text: readText(join(root, folder, file)) }))
}

function readText(path: string): string {
  return readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
}

function main(): number {
  const scripts = readLuaFiles(luaFolder)
  const includes = readLuaFiles(`${luaFolder}/include`)
  const compiled = (isIn: (name: string) => boolean): CompiledLua =>
    compileLua(
      scripts.filter(({ name }) => isIn(name)),
      includes,
      REDIS_FACTS,
    )
  const libraries = new Map([
    ['hotLibrary', compiled((name) => HOT.has(name))],
    ['gatesLibrary', compiled((name) => GATES.has(name))],
    ['library', compiled((name) => !HOT.has(name) && !GATES.has(name) && !isInspection(name))],
    ['inspectLibrary', compiled(isInspection)],
  ])
  const problems = [...libraries.values()].flatMap((library) => library.problems)
  if (problems.length > 0) {
    process.stderr.write(`${problems.join('\n')}\n`)
    return 1
  }
  const output = join(root, outputPath)
  const fresh = renderLuaModule(libraries)
  const current = existsSync(output) ? readText(output) : undefined
  if (process.argv.includes('--check')) {
    if (current === fresh) {
      process.stdout.write(`${outputPath} is up to date (${scripts.length} functions)\n`)
      return 0
    }
    process.stderr.write(
      `${outputPath} does not match the .lua files: run \`npm run generate\` and commit the result\n`,
    )
    return 1
  }
  if (current !== fresh) writeFileSync(output, fresh)
  process.stdout.write(
    `${outputPath} ${current === fresh ? 'was up to date' : 'written'} (${scripts.length} functions)\n`,
  )
  return 0
}

process.exitCode = main()
