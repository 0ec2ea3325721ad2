// Writes docs/openapi.json from the route table of the contract; with --check only says whether it is up to date.

import { readFileSync, writeFileSync } from 'node:fs'
import { openApiDocument, ROUTES } from '@reprise/contract'

const file = new URL('../docs/openapi.json', import.meta.url)
const { version } = JSON.parse(readFileSync(new URL('../packages/contract/package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}
const text = `${JSON.stringify(openApiDocument(ROUTES, { version }), null, 2)}\n`

if (process.argv.includes('--check')) {
  if (readOr(file) !== text) {
    process.stderr.write('docs/openapi.json is not what the contract says. Run: npm run generate\n')
    process.exitCode = 1
  }
} else writeFileSync(file, text)

function readOr(url: URL): string | null {
  try {
    return readFileSync(url, 'utf8')
  } catch {
    return null
  }
}
