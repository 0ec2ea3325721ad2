// What the tidy checks look at: the files of the workspace as plain { path, text } pairs, and the syntax tree of one.
// The checks themselves are pure functions over such pairs, so that each can be shown a bad sample.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'

export interface SourceFile {
  /** From the root of the workspace, with forward slashes. */
  readonly path: string
  readonly text: string
}

export const root: string = join(import.meta.dirname, '..', '..', '..')

const skippedFolders = new Set(['node_modules', 'dist', 'coverage', '.git'])

/** Every file of the workspace that matches one of the patterns; what git ignores is left out. */
export function readFiles(...patterns: readonly string[]): SourceFile[] {
  const found = globSync(patterns, {
    cwd: root,
    withFileTypes: true,
    exclude: (entry) => skippedFolders.has(entry.name),
  })
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: file.slice(root.length + 1).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }))
    .toSorted((a, b) => a.path.localeCompare(b.path))
}

export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

/** Calls `visit` for each node below, and including, the given one, with the node that holds it. */
export function walk(
  node: SyntaxNode,
  visit: (node: SyntaxNode, parent: SyntaxNode | undefined) => void,
  parent?: SyntaxNode,
): void {
  visit(node, parent)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit, node)
    }
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

export interface Comment {
  readonly value: string
  readonly start: number
  readonly end: number
}

export interface Parsed {
  readonly program: SyntaxNode
  readonly comments: readonly Comment[]
}

const parsedFiles = new WeakMap<SourceFile, Parsed>()

export function parse(file: SourceFile): Parsed {
  const known = parsedFiles.get(file)
  if (known !== undefined) return known
  const { program, comments, errors } = parseSync(file.path, file.text)
  const [error] = errors
  if (error !== undefined) throw new Error(`${file.path} does not parse: ${error.message}`)
  const parsed: Parsed = { program: program as unknown as SyntaxNode, comments }
  parsedFiles.set(file, parsed)
  return parsed
}

/** `path:line`, for a position in the text. */
export function at(file: SourceFile, position: number): string {
  return `${file.path}:${file.text.slice(0, position).split('\n').length}`
}
