// The packages as they are published: what the tarballs hold, and that a small program on them compiles, bundles and runs.
// `npm run test:packages` tries more compilers, bundlers and runtimes.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../tidy/checks/source.ts'
import { follow } from './page.ts'
import { GREETING, OVER_HTTP, OVER_HTTP_SAYS, PARTS, tsconfig } from './programs.ts'
import { createProject, type Project } from './project.ts'
import { tarballProblems } from './tarball-problems.ts'
import { packAll, type Tarballs, unpackInto } from './tarballs.ts'

const folder = mkdtempSync(join(tmpdir(), 'reprise-tarballs-'))
let tarballs: Tarballs

beforeAll(async () => {
  tarballs = await packAll(folder)
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every tarball holds README and LICENSE, code and types, and nothing that is not for users', () => {
  expect([...tarballs.keys()]).toContain('reprise')
  expect([...tarballs.values()].flatMap(tarballProblems)).toEqual([])
})

describe('client, worker and SQLite alone', () => {
  let project: Project
  beforeAll(async () => {
    project = createProject({ type: 'module' }, { 'parts.ts': PARTS, 'tsconfig.json': tsconfig() })
    const names = ['@reprise/client', '@reprise/worker', '@reprise/engine-sqlite']
    await unpackInto(project.folder, tarballs, names, ['@types/node', 'undici-types'])
  })
  afterAll(() => project[Symbol.dispose]())

  test('a program compiles strictly, with the types of all that comes along', async () => {
    expect(await project.run('tsc', ['-p', '.'])).toBe('')
  })

  test('a bundle of it runs', async () => {
    await project.run('esbuild', ['parts.ts', '--bundle', '--platform=node', '--format=esm', '--outfile=out/parts.mjs'])
    expect(await project.run('node', ['out/parts.mjs'])).toBe(GREETING)
  })
})

test('a client of a server bundles without any engine, and says what to install for one', async () => {
  using project = createProject({ type: 'module' }, { 'client.ts': OVER_HTTP })
  await unpackInto(project.folder, tarballs, ['@reprise/client'])
  await project.run('esbuild', ['client.ts', '--bundle', '--platform=node', '--format=esm', '--outfile=out/client.mjs'])
  expect(await project.run('node', ['out/client.mjs'])).toBe(OVER_HTTP_SAYS)
})

test('the first hour goes as its page says', async () => {
  using project = createProject({})
  const page = readFileSync(join(root, 'docs', 'first-hour.md'), 'utf8')
  const { commands, lines } = await follow(page, {
    project,
    environment: { REPRISE_PORT: '0' },
    install: (names) => unpackInto(project.folder, tarballs, names),
    ready: /Reprise runs at/,
  })
  expect(commands).toBeGreaterThan(10)
  expect(lines).toBeGreaterThan(6)
})
