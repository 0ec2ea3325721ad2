// The code in the README and in the pages of docs/ is code: what they show must compile, with the types they promise,
// against the packages as they are. Links lead somewhere, and commands exist. A sketch is marked `typescript` instead.

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readFiles, root, type SourceFile } from '../tidy/checks/source.ts'

const pages = readFiles('*.md', 'docs/**/*.md', 'packages/*/README.md')
const readme = pages.find(({ path }) => path === 'README.md')?.text ?? ''

/** Names that pages use and leave to the reader, or define in another block. */
const LEFT_TO_THE_READER: Readonly<Record<string, string>> = {
  sendInvoice: "import { sendInvoice } from './README.0.ts'",
  createWorker: "import { createWorker } from '@reprise/worker'",
  createRedactor: "import { createRedactor } from '@reprise/core'",
  client: "declare const client: import('@reprise/client').Client",
  engine: "declare const engine: import('@reprise/core').Engine",
  policies: "declare const policies: import('@reprise/core').PolicySource",
  launcher: "declare const launcher: import('@reprise/core').Launcher",
  signal: 'declare const signal: AbortSignal',
  remember: 'declare function remember(cursor: string): Promise<void>',
  bank: 'declare const bank: { refund(id: string, key: string): Promise<string>; lookUp(key: string): Promise<string | null> }',
  makeReport: 'declare function makeReport(input: unknown): Promise<string>',
  openMyStage: "declare const openMyStage: import('@reprise/launcher-conformance').LauncherFactory['open']",
  openMyEngine: "declare const openMyEngine: import('@reprise/engine-conformance').EngineFactory['open']",
  sizeOf: 'declare function sizeOf(payload: string): string',
  secret: 'declare const secret: string',
  fingerprint: 'declare const fingerprint: string',
  text: 'declare const text: string',
  rawBody: 'declare const rawBody: Buffer',
  request: "declare const request: import('node:http').IncomingMessage",
  respond: 'declare function respond(status: number): void',
  body: 'declare const body: { taskId: string; attempt: number; token: string; result: never }',
  payload: 'declare const payload: string',
  message: 'declare const message: string',
}

/** The TypeScript of a page, each block as a module of its own. */
function modulesOf({ path, text }: SourceFile): { readonly name: string; readonly code: string }[] {
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = ''], index) => {
    const uses = (name: string): boolean => new RegExp(`(?<![.\\w'])${name}\\b(?!:)`).test(block)
    const defines = (name: string): boolean =>
      new RegExp(`(?:const|function) (?:\\{[^}]*\\b)?${name}\\b|^import \\{[^}]*\\b${name}\\b`, 'm').test(block)
    const given = Object.entries(LEFT_TO_THE_READER).filter(([name]) => uses(name) && !defines(name))
    return {
      name: `${path.replace(/^docs\/|\.md$/g, '').replaceAll('/', '.')}.${index}`,
      code: [...given.map(([, line]) => line), /\breturn respond\(/.test(block) ? insideFunction(block) : block].join(
        '\n',
      ),
    }
  })
}

/** A block that answers a request returns, which only a function may. */
function insideFunction(block: string): string {
  const [imports, rest] = [/^import .*$/gm, /^(?!import ).*$/gm].map((lines) => (block.match(lines) ?? []).join('\n'))
  return `${imports}\nexport async function handler() {\n${rest}\n}`
}

test('every TypeScript block compiles', async () => {
  const modules = pages.flatMap(modulesOf)
  expect(modules.length).toBeGreaterThan(15)
  // Inside the repository, so that the packages are found.
  const folder = mkdtempSync(join(root, 'test', '.readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const { name, code } of modules) writeFileSync(join(folder, `${name}.ts`), `${code}\nexport {}\n`)
  // Packages that only the reader installs.
  writeFileSync(
    join(folder, 'not-installed.d.ts'),
    ["declare module '@opentelemetry/sdk-trace-node'", "declare module '@opentelemetry/exporter-trace-otlp-http'"].join(
      '\n',
    ),
  )
  const options = { noEmit: true, allowImportingTsExtensions: true, noUnusedLocals: false, noUnusedParameters: false }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions: options, include: ['*.ts'] }),
  )
  const compiled = promisify(execFile)(join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder])
  await expect(compiled).resolves.toMatchObject({ stdout: '' })
})

test('the commands that the README shows exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const named = [...readme.matchAll(/npm (?:run )?(start|demo|test(?::\w+)?|bench(?::\w+)?|check)\b/g)].map(
    (match) => match[1] ?? '',
  )
  expect(named.length).toBeGreaterThan(3)
  for (const name of named) expect(scripts).toHaveProperty([name])
})

test('the README is short', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(160)
})

describe('links between pages', () => {
  const anchor = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
  const anchorsOf = (path: string): readonly string[] =>
    [...readFileSync(path, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchor(heading))

  test.each(pages.map((page) => [page.path, page] as const))('%s', (_, { path, text }) => {
    const prose = text.replace(/^```.*?^```$/gms, '')
    const broken = [...prose.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].filter(
      ([, file = '', heading]) => {
        const target = file === '' ? join(root, path) : join(root, dirname(path), file)
        return !existsSync(target) || (heading !== undefined && !anchorsOf(target).includes(heading))
      },
    )
    expect(broken.map(([link]) => link)).toEqual([])
  })

  test('the index names every page', () => {
    const index = pages.find(({ path }) => path === 'docs/README.md')?.text ?? ''
    const missing = pages
      .filter(({ path }) => /^docs\/[^/]+\.md$/.test(path) && path !== 'docs/README.md')
      .filter(({ path }) => !index.includes(`(${basename(path)}`))
    expect(missing.map(({ path }) => path)).toEqual([])
  })
})
