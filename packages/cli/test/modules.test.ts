// Modules of actions as projects have them: real processes, because the loader of the tests would understand them all by
// itself. What can't be loaded is told with its file and line.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'

const BIN = join(import.meta.dirname, '..', 'bin', 'reprise.mjs')
const WORKER = pathToFileURL(join(import.meta.dirname, '../../worker/src/index.ts')).href

/** A project that has the package installed. */
function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-modules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const installed = {
    'node_modules/@reprise/worker/package.json':
      '{ "name": "@reprise/worker", "type": "module", "exports": "./index.js" }',
    'node_modules/@reprise/worker/index.js': `export * from '${WORKER}'`,
  }
  for (const [path, content] of Object.entries({ ...installed, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  return folder
}

function start(folder: string) {
  const argv = ['worker', './actions.ts', '--engine', 'sqlite::memory:']
  const child = spawn(process.execPath, [BIN, ...argv], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** What it says until it takes tasks, or until it ends. */
async function loading(folder: string): Promise<{ readonly exitCode: number | null; readonly stderr: string }> {
  const child = start(folder)
  const exit = once(child, 'exit')
  let stderr = ''
  for await (const line of createInterface({ input: child.stderr })) {
    stderr += `${line}\n`
    if (line.includes('The worker takes tasks.')) child.kill('SIGTERM')
  }
  const [exitCode] = (await exit) as [number | null]
  return { exitCode, stderr }
}

const ACTIONS = `
import { defineAction } from '@reprise/worker'
import { Colour } from './colours.js'
import { page } from './page'
export const paint = defineAction({ name: 'paint', run: (colour: Colour): string => Colour[colour] + page() })
`
const PARTS = {
  'colours.ts': 'export enum Colour { red, green }',
  'page.tsx': '/** @jsx h */\nconst h = (tag: string): string => tag\nexport const page = (): string => <b>hello</b>',
}

describe('a project with enums, JSX, and imports of .js and of no extension', () => {
  test.each([['commonjs'], ['module'], [undefined]])('of type %s', async (type) => {
    const folder = project({ 'package.json': JSON.stringify({ type }), 'actions.ts': ACTIONS, ...PARTS })
    const { exitCode, stderr } = await loading(folder)
    expect(stderr).toContain('The worker takes tasks.')
    expect(stderr).not.toContain('Failed to load the ES module')
    expect(exitCode).toBe(0)
  })
})

describe('what is wrong is told with its file and line', () => {
  test.each<[string, Record<string, string>, string]>([
    [
      'a word that nobody understands',
      { 'actions.ts': "import './lib/wrong.js'", 'lib/wrong.ts': 'export const a = 1\n\nexport const b = = 2\n' },
      'lib/wrong.ts:3: Unexpected token',
    ],
    [
      'a file that is not there',
      { 'actions.ts': "// The colours.\nimport { red } from './colours.js'\nexport { red }" },
      "actions.ts:2: './colours.js' is not there.\n",
    ],
    [
      'a package that is not installed',
      { 'actions.ts': "import zod from 'not-installed/v4'\nexport { zod }" },
      "actions.ts:1: 'not-installed/v4' is not there.\n",
    ],
    [
      'an error that the module throws',
      { 'actions.ts': "import './lib/setup.ts'", 'lib/setup.ts': "\nthrow new Error('No database.')\n" },
      'lib/setup.ts:2: No database.',
    ],
  ])('%s', async (_, files, told) => {
    const folder = project({ 'package.json': '{ "type": "module" }', ...files })
    const child = start(folder)
    const [stderr, [exitCode]] = await Promise.all([
      text(child.stderr),
      once(child, 'exit') as Promise<[number | null]>,
    ])
    expect(stderr).toContain(`The module ${join(folder, 'actions.ts')} can't be loaded. ${told}`)
    expect(exitCode).toBe(2)
  })
})
