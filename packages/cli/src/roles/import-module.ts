// Loads a module of the user's, in whatever way their project is written. Node itself comes first: it runs JavaScript, and
// TypeScript whose types can simply be left out. What is beyond Node is compiled on the way by jiti: enums and JSX, TypeScript
// with imports in a CommonJS package, imports of './x.js' or './x' where the file is x.ts.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Host } from '../host.ts'

const COMPILED = new Set(['.ts', '.mts', '.cts', '.tsx', '.jsx'])
/** What Node says of a file that a compiler may understand. */
const BEYOND_NODE = new Set([
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'ERR_INVALID_TYPESCRIPT_SYNTAX',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'MODULE_NOT_FOUND',
])

export async function importModule(file: string, host: Pick<Host, 'importModule'>): Promise<unknown> {
  const { href } = pathToFileURL(file)
  if (!COMPILED.has(extname(file))) return host.importModule(href)
  // Node would load it as CommonJS, fail at its imports, and print a warning.
  if (extname(file) === '.ts' && packageType(dirname(file)) === 'commonjs') return compiled(href)
  try {
    return await host.importModule(href)
  } catch (error) {
    if (!isBeyondNode(error)) throw error
    return compiled(href)
  }
}

async function compiled(href: string): Promise<unknown> {
  const { createJiti } = await import('jiti')
  return createJiti(import.meta.url, { jsx: true, fsCache: false, interopDefault: false }).import(href)
}

function isBeyondNode(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && BEYOND_NODE.has(String(error.code))) || error instanceof SyntaxError
}

/** What the nearest package.json says; undefined if it says nothing, and Node looks at the file itself. */
function packageType(folder: string): unknown {
  const file = join(folder, 'package.json')
  if (existsSync(file)) {
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { readonly type?: unknown }).type
    } catch {
      return undefined
    }
  }
  return dirname(folder) === folder ? undefined : packageType(dirname(folder))
}
