// Compilers: strict, with the types of all packages checked that come along.

import { GREETING, PARTS, tsconfig, WHOLE } from '../programs.ts'
import { type Case, expectText } from './stage.ts'

/** As a page in a browser would use it. */
const BROWSER = `import { createHttpClient } from '@reprise/client/http'

const client = createHttpClient({ url: location.origin })
const { items } = await client.listTasks({ q: 'status:dead' })
document.title = items.map((task) => task.action).join()
`

export const typeCases: readonly Case[] = (['TypeScript 5.9', 'TypeScript 7'] as const).flatMap((compiler): Case[] => [
  {
    name: `${compiler}: client, worker and SQLite alone`,
    needs: [compiler],
    async run({ parts, run }) {
      parts.write({ 'types/parts.ts': PARTS, 'types/tsconfig.json': tsconfig() })
      expectText(await run(parts, compiler, ['-p', 'types']), '')
    },
  },
  {
    name: `${compiler}: reprise, as bundlers resolve it`,
    needs: [compiler],
    async run({ whole, run }) {
      const options = { module: 'preserve', moduleResolution: 'bundler' }
      whole.write({ 'bundled/whole.ts': WHOLE, 'bundled/tsconfig.json': tsconfig(options) })
      expectText(await run(whole, compiler, ['-p', 'bundled']), '')
    },
  },
  {
    name: `${compiler}: a CommonJS project, compiled and run`,
    needs: [compiler],
    async run({ whole, run }) {
      const manifest = JSON.stringify({ type: 'commonjs' })
      const options = { noEmit: false, rootDir: '.', outDir: 'out' }
      whole.write({
        'commonjs/package.json': manifest,
        'commonjs/whole.ts': WHOLE,
        'commonjs/tsconfig.json': tsconfig(options),
      })
      expectText(await run(whole, compiler, ['-p', 'commonjs']), '')
      expectText(await whole.run('node', ['commonjs/out/whole.js']), GREETING)
    },
  },
  {
    name: `${compiler}: the client of a browser, without the types of Node`,
    needs: [compiler],
    async run({ client, run }) {
      const options = { module: 'preserve', moduleResolution: 'bundler', types: [], lib: ['es2024', 'dom'] }
      client.write({ 'browser/page.ts': BROWSER, 'browser/tsconfig.json': tsconfig(options) })
      expectText(await run(client, compiler, ['-p', 'browser']), '')
    },
  },
])
