// The shape of files: short, opened by a paragraph that says what they are for, named after their subject, without
// loose ends, and with no test switched off.

import { at, type Comment, isNode, parse, type SourceFile, type SyntaxNode, walk } from './source.ts'

const maxLines = 400
const minOpeningWords = 5
const bucketNames = new Set(['util', 'utils', 'helper', 'helpers', 'misc', 'common'])
const looseEnds = /\b(?:TODO|FIXME)\b/
const testFunctions = new Set(['test', 'it', 'describe', 'suite', 'bench'])
const switches = new Set(['only', 'skip', 'todo'])

const isGenerated = (file: SourceFile) => /\.generated\.\w+$/.test(file.path)
const isScript = (file: SourceFile) => /\.[cm]?[jt]sx?$/.test(file.path)
const isModule = (file: SourceFile) => /(?:^|\/)src\/.*\.tsx?$/.test(file.path)

export function lengthProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const lines = file.text.replace(/\n$/, '').split('\n').length
    if (isGenerated(file) || lines <= maxLines) return []
    return [`${file.path}: ${lines} lines; a file has one subject and at most ${maxLines} lines`]
  })
}

export function openingProblems(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isModule(file) && !opensWithParagraph(file))
    .map((file) => `${file.path}:1: a module opens with a comment that says what it is for, and what it is not`)
}

function opensWithParagraph(file: SourceFile): boolean {
  const opening: Comment[] = []
  let end = /^#![^\n]*/.exec(file.text)?.[0].length ?? 0
  for (const comment of parse(file).comments) {
    if (file.text.slice(end, comment.start).trim() !== '') break
    opening.push(comment)
    end = comment.end
  }
  const words =
    opening
      .map((comment) => comment.value)
      .join(' ')
      .match(/\p{L}{2,}/gu) ?? []
  return words.length >= minOpeningWords
}

export function nameProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path }) => {
    const bucket = path.split('/').find((part) => bucketNames.has(part.replace(/\..*$/, '').toLowerCase()))
    return bucket === undefined ? [] : [`${path}: "${bucket}" is a bucket; name it after its subject`]
  })
}

export function looseEndProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    // In code only comments count, so that a string, such as a sample in a test, may hold the words. A comment's
    // value starts after its two opening characters.
    const texts = isScript(file)
      ? parse(file).comments.map(({ value, start }) => ({ value, start: start + 2 }))
      : [{ value: file.text, start: 0 }]
    return texts.flatMap(({ value, start }) => {
      const found = looseEnds.exec(value)
      return found === null
        ? []
        : [`${at(file, start + found.index)}: ${found[0]}; do it now, or write it in the tracker`]
    })
  })
}

export function switchedOffTestProblems(files: readonly SourceFile[]): string[] {
  return files.filter(isScript).flatMap((file) => {
    const problems: string[] = []
    walk(parse(file).program, (node) => {
      if (node.type !== 'MemberExpression' || !isNode(node.property)) return
      const name = node.property.name
      if (typeof name !== 'string' || !switches.has(name) || !testFunctions.has(rootName(node) ?? '')) return
      problems.push(`${at(file, node.start)}: .${name} switches tests off`)
    })
    return problems
  })
}

/** `test` of `test.concurrent.only`. */
function rootName(node: SyntaxNode): string | undefined {
  const inner = node.object
  if (isNode(inner)) return rootName(inner)
  return typeof node.name === 'string' ? node.name : undefined
}
