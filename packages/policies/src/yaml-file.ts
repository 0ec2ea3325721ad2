// A YAML file that a person wrote: its value, and where everything in it stands. Aliases, keys that stand there twice, tags
// and files that are too large or too deep are refused here, before anything is made of them.

import { readFile, stat } from 'node:fs/promises'
import type { z } from 'zod'
import { ConfigurationError, type Problem } from './configuration-error.ts'
import { type Finding, findingsOf, pathText } from './fields.ts'
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseAllDocuments } from './yaml.ts'

const FILE_BYTES_MAX = 262_144

type Position = Pick<Problem, 'line' | 'column'>

export interface YamlFile {
  /** Null if the file is empty. */
  readonly value: unknown
  /** Where the value stands, or the name of its field. */
  positionOf(finding: Pick<Finding, 'path' | 'isName'>): Position
}

export interface FileText {
  readonly text: string
  /** When the file was last changed, as far as its file system tells. */
  readonly changedAt: number
}

/** `ConfigurationError` if it can't be read, is too large or is no text. */
export async function readFileText(file: string): Promise<FileText> {
  try {
    // Asked first: what is too large is not even read.
    const { size, mtimeMs } = await stat(file)
    if (size > FILE_BYTES_MAX) throw tooLarge(size, file)
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)), changedAt: mtimeMs }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error
    if (error instanceof TypeError) throw wholeFile(file, 'It is not a text in UTF-8.')
    throw wholeFile(file, `It can't be read: ${error instanceof Error ? error.message : 'for an unknown reason'}.`)
  }
}

/** What the schema makes of the text; `ConfigurationError` with everything that is wrong with it. */
export function parseYaml<Out>(text: string, file: string, schema: z.ZodType<Out>, ifEmpty = 'It is empty.'): Out {
  const yaml = readYaml(text, file)
  if (yaml.value === null) throw wholeFile(file, ifEmpty)
  const { success, data, error } = schema.safeParse(yaml.value)
  if (success) return data
  const problems = findingsOf(error, yaml.value).map((finding): Problem => {
    const { path, message } = finding
    return { file, ...yaml.positionOf(finding), path: pathText(path), message }
  })
  throw new ConfigurationError(problems.toSorted((a, b) => a.line - b.line || a.column - b.column))
}

/** Reads YAML text; `ConfigurationError` if it can't be read at all. */
export function readYaml(text: string, file: string): YamlFile {
  const size = Buffer.byteLength(text)
  if (size > FILE_BYTES_MAX) throw tooLarge(size, file)
  try {
    return readDocument(text, file)
  } catch (error) {
    // The stack ran out.
    throw error instanceof RangeError ? wholeFile(file, 'It nests too deep.') : error
  }
}

function readDocument(text: string, file: string): YamlFile {
  const lineCounter = new LineCounter()
  const problems: Problem[] = []
  const positionAt = (place: unknown): Position => {
    const offset = isNode(place) ? (place.range?.[0] ?? 0) : typeof place === 'number' ? place : 0
    const { line, col } = lineCounter.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const add = (place: unknown, path: readonly PropertyKey[], message: string): void =>
    void problems.push({ file, ...positionAt(place), path: pathText(path), message })
  // Keys are compared further below: the parser's own way takes quadratic time.
  const options = { lineCounter, uniqueKeys: false, stringKeys: true, prettyErrors: false }
  const [document, second] = [...parseAllDocuments(text, options)]
  if (second !== undefined) {
    add(second.range[0], [], 'A second document begins here. One file holds one.')
  }
  for (const { pos, message } of [...(document?.errors ?? []), ...(document?.warnings ?? [])]) {
    add(pos[0], [], `This is not valid YAML: ${message.split('\n')[0] ?? ''}`)
  }

  const refuseSpecials = (node: unknown, path: readonly PropertyKey[]): void => {
    const refuse = (message: string): void => add(node, path, message)
    if (isAlias(node)) refuse(`The alias *${node.source} is not allowed. Write it out.`)
    else if (isNode(node) && node.anchor !== undefined) {
      refuse(`The anchor &${node.anchor} is not allowed: there are no aliases.`)
    }
    if (isScalar(node) && node.tag !== undefined && !node.tag.startsWith('tag:yaml.org,2002:')) {
      refuse(`The tag ${node.tag} is not allowed.`)
    }
    if (isSeq(node)) for (const [index, item] of node.items.entries()) refuseSpecials(item, [...path, index])
    if (!isMap(node)) return
    const names = new Set<string>()
    for (const { key, value } of node.items) {
      const name = nameOf(key)
      const inner = [...path, name]
      if (names.has(name)) add(key, inner, 'This field stands here twice.')
      // An object would take it for something else.
      if (name === '__proto__') add(key, inner, 'There is no such field.')
      names.add(name)
      refuseSpecials(key, inner)
      refuseSpecials(value, inner)
    }
  }
  if (problems.length === 0) refuseSpecials(document?.contents, [])
  if (problems.length > 0) throw new ConfigurationError(problems)

  const keyAt = (path: readonly PropertyKey[]): unknown => {
    const map = document?.getIn(path.slice(0, -1), true)
    return isMap(map) ? map.items.find(({ key }) => nameOf(key) === path.at(-1))?.key : undefined
  }
  return {
    value: document?.toJS() ?? null,
    positionOf: ({ path, isName }) => positionAt(isName ? keyAt(path) : document?.getIn(path, true)),
  }
}

const nameOf = (key: unknown): string => (isScalar(key) ? String(key.value) : '')

const wholeFile = (file: string, message: string): ConfigurationError =>
  new ConfigurationError([{ file, line: 1, column: 1, path: '', message }])

const tooLarge = (sizeBytes: number, file: string): ConfigurationError =>
  wholeFile(file, `It has ${sizeBytes} bytes; at most ${FILE_BYTES_MAX} are allowed.`)
