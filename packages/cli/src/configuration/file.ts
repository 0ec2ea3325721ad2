// reprise.yaml: read within bounds into plain values, with the line of each. What the values mean is decided by the table
// of settings. Aliases, tags and keys that stand there twice are refused, as in every file that Reprise reads.

import { readFile, stat } from 'node:fs/promises'
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'

interface Position {
  readonly line: number
  readonly column: number
}

interface FileProblem extends Position {
  readonly message: string
}

export interface ConfigurationFile {
  readonly value: unknown
  readonly problems: readonly FileProblem[]
  /** Where the value at this path stands, or the nearest thing around it that stands somewhere. */
  at(path: readonly (string | number)[]): Position
}

const BYTES_MAX = 262_144
const START: Position = { line: 1, column: 1 }

/** What is wrong with the file as a whole is among its problems. */
export async function readConfigurationFile(path: string): Promise<ConfigurationFile> {
  try {
    const { size } = await stat(path)
    if (size > BYTES_MAX) return unreadable(`It has ${size} bytes; at most ${BYTES_MAX} are allowed.`)
    return parse(new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path)))
  } catch (error) {
    if (error instanceof TypeError) return unreadable('It is not a text in UTF-8.')
    return unreadable(`It can't be read: ${error instanceof Error ? error.message : 'for an unknown reason'}.`)
  }
}

const unreadable = (message: string): ConfigurationFile => ({
  value: null,
  problems: [{ ...START, message }],
  at: () => START,
})

function parse(text: string): ConfigurationFile {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const problems: FileProblem[] = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    ...position(pos[0]),
    message: `This is not valid YAML: ${message.split('\n')[0] ?? ''}.`,
  }))
  visit(document, {
    Node(_, node) {
      if (isAlias(node) || node.anchor !== undefined) {
        problems.push({
          ...position(node.range?.[0] ?? 0),
          message: 'Anchors and aliases are not allowed. Write it out.',
        })
      }
    },
  })
  const root = document.contents
  return {
    value: problems.length > 0 ? null : document.toJS(),
    problems,
    at: (path) => position(offsetOf(root, path)),
  }
}

function offsetOf(root: Node | null, path: readonly (string | number)[]): number {
  let node: unknown = root
  let offset = root?.range?.[0] ?? 0
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      if (pair === undefined) return offset
      offset = isScalar(pair.key) ? (pair.key.range?.[0] ?? offset) : offset
      node = pair.value
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step]
      offset = isScalar(node) || isMap(node) || isSeq(node) ? (node.range?.[0] ?? offset) : offset
    } else return offset
  }
  return offset
}
