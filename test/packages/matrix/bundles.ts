// Bundlers: what they make of the packages runs by itself, without node_modules beside it.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GREETING, OVER_HTTP, OVER_HTTP_SAYS, PARTS, WHOLE } from '../programs.ts'
import type { Project } from '../project.ts'
import { type Case, expectText, type Stage } from './stage.ts'

const FORMATS = [
  ['esm', 'mjs'],
  ['cjs', 'cjs'],
] as const

const NOT_FOR_BROWSERS = /node:|\bprocess\.|\brequire\(/

const esbuildCases = FORMATS.flatMap(([format, ending]): Case[] => {
  const file = (name: string): string => `out/${name}.${ending}`
  const bundle = async (stage: Stage, project: Project, name: string, text: string): Promise<void> => {
    project.write({ [`${name}.ts`]: text })
    const options = ['--bundle', '--platform=node', `--format=${format}`, `--outfile=${file(name)}`]
    await stage.run(project, 'esbuild', [`${name}.ts`, ...options])
  }
  return [
    {
      name: `esbuild, ${format}: client, worker and SQLite alone`,
      needs: ['esbuild'],
      async run(stage) {
        await bundle(stage, stage.parts, 'parts', PARTS)
        expectText(await alone(stage.parts, file('parts')), GREETING)
      },
    },
    {
      name: `esbuild, ${format}: a client of a server, no engine`,
      needs: ['esbuild'],
      async run(stage) {
        await bundle(stage, stage.client, 'client', OVER_HTTP)
        expectText(await alone(stage.client, file('client')), OVER_HTTP_SAYS)
      },
    },
    {
      name: `esbuild, ${format}: reprise on Redis`,
      needs: ['esbuild', 'Redis'],
      async run(stage) {
        await bundle(stage, stage.whole, 'whole', WHOLE)
        expectText(await alone(stage.whole, file('whole'), stage.redisUrl), GREETING)
      },
    },
  ]
})

/** Runs a bundle in a folder where it finds no packages. */
async function alone(project: Project, file: string, engine: string | null = null): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-bundle-'))
  try {
    const copy = join(folder, file.replace(/^out\//, ''))
    cpSync(join(project.folder, file), copy)
    return await project.run('node', [copy], engine === null ? {} : { ENGINE: freshPrefix(engine) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

let stores = 0
/** So that each case has a store of its own. */
export const freshPrefix = (url: string): string => `${url}?prefix=case${stores++}`

const viteCase: Case = {
  name: 'Vite: the client of a browser',
  needs: ['Vite'],
  async run({ client, run }) {
    client.write({
      'vite/index.html': '<!doctype html><script type="module" src="./page.js"></script>',
      // A polyfill that asks for a document would come along.
      'vite/vite.config.js': 'export default { build: { modulePreload: false } }',
      'vite/page.js': `import { createHttpClient } from '@reprise/client/http'
globalThis.shown = createHttpClient({ url: 'http://localhost:7440', fetch: globalThis.answer })
  .listTasks({})
  .then(({ items }) => items.length)
`,
    })
    const printed = await run(client, 'Vite', ['build', 'vite', '--logLevel', 'warn'])
    if (/externalized for browser/.test(printed)) throw new Error(`A module of Node came along.\n${printed}`)
    const assets = join(client.folder, 'vite', 'dist', 'assets')
    const [page = ''] = readdirSync(assets).filter((name) => name.endsWith('.js'))
    const code = readFileSync(join(assets, page), 'utf8')
    const [found] = NOT_FOR_BROWSERS.exec(code) ?? []
    if (found !== undefined) throw new Error(`'${found}' is not for browsers.`)
    client.write({
      'vite/try.mjs': `globalThis.answer = async () => Response.json({ items: [1, 2], next: null })
await import('./dist/assets/${page}')
console.log(await globalThis.shown)
`,
    })
    expectText(await client.run('node', ['vite/try.mjs']), '2\n')
  },
}

export const bundleCases: readonly Case[] = [...esbuildCases, viteCase]
