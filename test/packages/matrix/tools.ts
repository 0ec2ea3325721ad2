// The compilers, bundlers and runtimes of the matrix, each installed from the registry into a folder of its own. One that
// the registry does not have, or that can't be reached, is not available here: its cases are skipped, and counted.

import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ownEnvironment } from '../project.ts'

const PLATFORM = `${process.platform}-${process.arch}`

/** The package as npm names it, and the program in it. A program in JavaScript runs on the Node of this workspace. */
const TOOLS = {
  'TypeScript 5.9': ['typescript@5.9', 'bin/tsc'],
  'TypeScript 7': ['typescript@7', 'bin/tsc'],
  esbuild: ['esbuild@0.28', 'bin/esbuild'],
  Vite: ['vite@8', 'bin/vite.js'],
  'Node 24': [`node-${PLATFORM}@24`, 'bin/node'],
  'Node 26': [`node-${PLATFORM}@26`, 'bin/node'],
  Bun: [`@oven/bun-${PLATFORM}`, 'bin/bun'],
  Deno: [`@deno/${PLATFORM}${process.platform === 'linux' ? '-glibc' : ''}`, 'deno'],
} as const satisfies Readonly<Record<string, readonly [name: string, program: string]>>

export type ToolName = keyof typeof TOOLS
export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[]

export interface Tool {
  readonly version: string
  /** What to run, and the arguments that come first. */
  readonly command: readonly [string, ...string[]]
}

/** What npm says when there is no such package, or no way to the registry. */
const NOT_AVAILABLE = /\b(?:E404|ETARGET|EBADPLATFORM|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH)\b/

/** Null if it is not available here. */
export async function installTool(name: ToolName, parent: string): Promise<Tool | null> {
  const [wanted, program] = TOOLS[name]
  const folder = join(parent, name.replaceAll(/\W/g, '-'))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  try {
    await npmInstall(folder, [wanted])
  } catch (error) {
    if (NOT_AVAILABLE.test(String(error))) return null
    throw error
  }
  const home = join(folder, 'node_modules', wanted.replace(/(?!^)@.*$/, ''))
  const path = join(home, program)
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { readonly version: string }
  if (isScript(path)) return { version, command: [process.execPath, path] }
  chmodSync(path, 0o755)
  return { version, command: [path] }
}

const isScript = (path: string): boolean =>
  /^#!.*node|^import |^['"]use/.test(readFileSync(path).toString('latin1', 0, 80))

export async function npmInstall(folder: string, names: readonly string[]): Promise<void> {
  const options = ['--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', '--fetch-retries=1']
  await promisify(execFile)('npm', ['install', ...options, ...names], {
    cwd: folder,
    env: ownEnvironment(),
    maxBuffer: 64 * 1_024 * 1_024,
  })
}
