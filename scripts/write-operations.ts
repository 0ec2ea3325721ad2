// Writes what is made from the table of operations (docs/openapi.json, and the client's routes), and the module with the runbooks
// that come with the product. With --check it only says whether they are up to date.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { ALL_OPERATIONS, openApiDocument, ROUTES } from '@reprise/operations'

const manifest = readFileSync(new URL('../packages/operations/package.json', import.meta.url), 'utf8')
const { version } = JSON.parse(manifest) as { readonly version: string }

const routes = Object.entries(ALL_OPERATIONS).map(([name, entry]) => {
  const [method = '', path = ''] = entry.route.split(' ')
  // One short text each, without what most have: the client has to fit a browser.
  const traits = [
    ...(entry.repeatable === true && method !== 'GET' ? ['+'] : []),
    ...('lines' in entry ? ['stream'] : []),
  ]
  const shortPath = path.replace(/^\/api\/v1\//, '').replace('/{id}', '#')
  return [name, ...(method === 'GET' ? [] : [method === 'POST' ? '>' : method]), shortPath, ...traits].join(' ')
})

const folder = new URL('../packages/operations/runbooks/', import.meta.url)
const runbooks = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .toSorted()
  .map((name) => `  ${JSON.stringify(name)}: ${literal(readFileSync(new URL(name, folder), 'utf8'))},`)

const files = {
  '../packages/operations/src/runbooks/shipped.generated.ts': `// The runbooks that come with the product, as they stand in packages/operations/runbooks. Made by npm run generate.

export const SHIPPED_RUNBOOKS: Readonly<Record<string, string>> = {
${runbooks.join('\n')}
}
`,
  '../docs/openapi.json': `${JSON.stringify(openApiDocument(ROUTES, { version }), null, 2)}\n`,
  '../packages/client/src/routes.generated.ts': `// Where each operation is found over HTTP. Made from the table of operations by npm run generate.

import type { OperationName } from '@reprise/operations'

// A line for each operation: its name; its method if it is not GET, with > for POST; its path, below /api/v1/ unless it begins with a
// slash, with # for /{id}. A plus says that a call may be sent again without an answer, as a GET may always; and a last word, that
// the answer is a stream.
const LINES = \`${routes.join('\n')}\`

/** By name, without it. */
export const ROUTES = Object.fromEntries(LINES.split('\\n').map((line) => line.split(/ (.*)/))) as Readonly<
  Record<OperationName, string>
>
`,
}

for (const [path, text] of Object.entries(files)) {
  const file = new URL(path, import.meta.url)
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (readOr(file) !== text) {
    process.stderr.write(`${path.slice(3)} is not what the table of operations says. Run: npm run generate\n`)
    process.exitCode = 1
  }
}

function literal(text: string): string {
  return `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``
}

function readOr(url: URL): string | null {
  try {
    return readFileSync(url, 'utf8')
  } catch {
    return null
  }
}
