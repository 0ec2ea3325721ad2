// Runtimes: what was installed runs as it is.

import { GREETING, OVER_HTTP, OVER_HTTP_SAYS, plain, required, WHOLE } from '../programs.ts'
import { freshPrefix } from './bundles.ts'
import { type Case, expectText, NotAvailable } from './stage.ts'

const nodeCases = (['Node 24', 'Node 26'] as const).flatMap((node): Case[] => [
  {
    name: `${node}: reprise on SQLite, by import and by require`,
    needs: [node],
    async run({ whole, run }) {
      whole.write({ 'run/whole.mjs': plain(WHOLE), 'run/whole.cjs': required(WHOLE) })
      expectText(await run(whole, node, ['run/whole.mjs']), GREETING)
      expectText(await run(whole, node, ['run/whole.cjs']), GREETING)
    },
  },
  {
    name: `${node}: reprise on Redis`,
    needs: [node, 'Redis'],
    async run({ whole, run, redisUrl }) {
      whole.write({ 'run/whole.mjs': plain(WHOLE) })
      expectText(await run(whole, node, ['run/whole.mjs'], { ENGINE: freshPrefix(redisUrl ?? '') }), GREETING)
    },
  },
  {
    name: `${node}: the command`,
    needs: [node],
    async run({ whole, run }) {
      const printed = await run(whole, node, ['node_modules/reprise/bin/reprise.mjs', 'version'])
      if (!/\d+\.\d+\.\d+/.test(printed)) throw new Error(`It printed no version: ${printed}`)
    },
  },
])

const otherCases = (['Bun', 'Deno'] as const).flatMap((runtime): Case[] => {
  const args = runtime === 'Deno' ? ['run', '--allow-all', '--quiet', '--node-modules-dir=manual'] : ['run']
  return [
    {
      name: `${runtime}: a client of a server`,
      needs: [runtime],
      async run({ client, run }) {
        client.write({ 'run/client.ts': OVER_HTTP })
        expectText(await run(client, runtime, [...args, 'run/client.ts']), OVER_HTTP_SAYS)
      },
    },
    {
      name: `${runtime}: reprise on SQLite`,
      needs: [runtime],
      async run({ whole, run }) {
        whole.write({ 'run/sqlite.mjs': "import 'node:sqlite'\n", 'run/whole.mjs': plain(WHOLE) })
        await run(whole, runtime, [...args, 'run/sqlite.mjs']).catch(() => {
          throw new NotAvailable('node:sqlite')
        })
        expectText(await run(whole, runtime, [...args, 'run/whole.mjs']), GREETING)
      },
    },
  ]
})

export const runtimeCases: readonly Case[] = [...nodeCases, ...otherCases]
