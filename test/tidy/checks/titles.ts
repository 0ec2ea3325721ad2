// The titles of tests, read from their sources, and the ids of requirements that they begin with.

import { isNode, parse, type SourceFile, type SyntaxNode, walk } from './source.ts'

/** What begins a title: `check` is the conformance suite's. */
const TITLED = new Set(['test', 'it', 'describe', 'check'])

/** Of every `test('…')`, `it('…')`, `describe('…')`, `check('…')` and `test.each(…)('…')`. What a template fills in is left out. */
export function titlesOf(file: SourceFile): string[] {
  const titles: string[] = []
  walk(parse(file).program, (node) => {
    if (node.type !== 'CallExpression' || !TITLED.has(rootName(node.callee))) return
    const title = textOf((node.arguments as readonly SyntaxNode[])[0])
    if (title !== null) titles.push(title)
  })
  return titles
}

/** `test` of `test`, `test.each` and `test.each([…])`. */
function rootName(callee: unknown): string {
  if (!isNode(callee)) return ''
  if (callee.type === 'Identifier') return String(callee.name)
  return rootName(callee.type === 'MemberExpression' ? callee.object : callee.callee)
}

function textOf(node: SyntaxNode | undefined): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type !== 'TemplateLiteral') return null
  return (node.quasis as readonly { readonly value: { readonly raw: string } }[]).map(({ value }) => value.raw).join('')
}

const ID = String.raw`(?:[A-E]|fault |intruder )\d{1,2}`
const IDS = new RegExp(`^(${ID}(?:(?:, | and |–)${ID})*)[:,\\s]`)

/** The ids that a title begins with, such as `A4: …`, `A4, fault 17: …`, `B9 and C10: …` or `C1–C7: …`. */
export function idsOf(title: string): string[] {
  const found = IDS.exec(title)
  if (found === null) return []
  const [, ids = ''] = found
  return ids.split(/, | and /).flatMap((part) => {
    const [first = '', last = first] = part.split('–')
    const [kind, from] = [first.replace(/\d+$/, ''), numberOf(first)]
    return Array.from({ length: numberOf(last) - from + 1 }, (_, index) => `${kind}${from + index}`)
  })
}

const numberOf = (id: string): number => Number(/\d+$/.exec(id)?.[0])
