// Small programs of a user, as text: what is built and run from the packed packages.

/** Submits a task, runs it, calls an operation, and prints what came of both. On the store of ENGINE, or in memory. */
const BODY = `
const greet = defineAction({ name: 'greet', run: (name: string) => \`Hello, \${name}!\` })

async function main(): Promise<void> {
  const engine = process.env.ENGINE ?? 'sqlite::memory:'
  const worker = await createWorker({ engine, actions: [greet] })
  const client = await createClient({ engine })
  const task = await client.submit(greet, 'Ann')
  const answer: string = await task.result({ timeout: '1m' })
  const { items } = await client.listTasks({ limit: 1 })
  console.log(answer, items[0]?.state.status)
  await worker.stop()
  await client.close()
}

main().catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
`

export const GREETING = 'Hello, Ann! succeeded\n'

/** With client, worker and engine as packages of their own. */
export const PARTS = `import { createClient, defineAction } from '@reprise/client'
import { createWorker } from '@reprise/worker'
${BODY}`

/** With the one package to start with. */
export const WHOLE = `import { createClient, createWorker, defineAction } from 'reprise'
${BODY}`

/** The same in JavaScript, and in CommonJS. */
export const plain = (program: string): string =>
  program
    .replace('name: string', 'name')
    .replace(': Promise<void>', '')
    .replace(': string =', ' =')
    .replace(': unknown', '')

export const required = (program: string): string =>
  plain(program).replace(/^import (\{.*\}) from ('.*')$/gm, 'const $1 = require($2)')

/** A client of a server: no engine is installed. */
export const OVER_HTTP = `import { createClient } from '@reprise/client'

const answer = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

async function main(): Promise<void> {
  const client = await createClient({ url: 'http://localhost:7440', fetch: async () => answer(200, { items: [], next: null }) })
  const { items } = await client.listTasks({})
  console.log('tasks:', items.length)
  await createClient({ engine: 'redis://localhost' }).catch((error: Error) => console.log(error.message))
  await client.close()
}

void main()
`

export const OVER_HTTP_SAYS =
  'tasks: 0\nThe engine package @reprise/engine-redis is not installed. Install it where this process runs: npm install @reprise/engine-redis\n'

/** Strict, and with everything checked that comes along. */
export const tsconfig = (options: object = {}): string =>
  JSON.stringify({
    compilerOptions: {
      target: 'es2024',
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      types: ['node'],
      ...options,
    },
    include: ['*.ts'],
  })
