// Time and chance are injected. Outside the few files that provide them, nothing may read the host's clock, set a
// timer or draw a random number by itself: otherwise no test and no simulation could steer it.

import { at, isNode, parse, type SourceFile, type SyntaxNode, walk } from './source.ts'

/** The files that may, and why. */
export const clockAllowList: Readonly<Record<string, string>> = {
  'packages/core/src/runtime/clock.ts': 'provides the Clock that everything else is given',
  'packages/core/src/runtime/random.ts': 'provides the Random that everything else is given',
}

const members = new Set(['Date.now', 'Math.random', 'performance.now'])
const timers = new Set(['setTimeout', 'setInterval', 'setImmediate'])
const timerModules = new Set(['node:timers', 'node:timers/promises'])

export function clockProblems(files: readonly SourceFile[], allowList = clockAllowList): string[] {
  return files
    .filter((file) => !(file.path in allowList))
    .flatMap((file) => {
      const problems: string[] = []
      walk(parse(file).program, (node, parent) => {
        const what = ambientUse(node, parent)
        if (what !== undefined) problems.push(`${at(file, node.start)}: ${what}; take it from the Clock or the Random`)
      })
      return problems
    })
}

function ambientUse(node: SyntaxNode, parent: SyntaxNode | undefined): string | undefined {
  switch (node.type) {
    case 'MemberExpression': {
      const name = `${lastName(node.object)}.${lastName(node.property)}`
      if (members.has(name)) return name
      const [object, property = ''] = name.split('.')
      return object === 'globalThis' && timers.has(property) ? property : undefined
    }
    case 'NewExpression':
      return nameOf(node.callee) === 'Date' && isEmpty(node.arguments) ? 'new Date() without an argument' : undefined
    case 'CallExpression':
      return nameOf(node.callee) === 'Date' ? 'Date() as a function' : undefined
    case 'ImportDeclaration': {
      const source = isNode(node.source) ? node.source.value : undefined
      return typeof source === 'string' && timerModules.has(source) ? source : undefined
    }
    case 'Identifier':
      return timers.has(nameOf(node) ?? '') && isReference(node, parent) ? nameOf(node) : undefined
    default:
      return undefined
  }
}

/** A use of the name as a value; `clock.setTimeout`, `{ setTimeout: … }` and `typeof setTimeout` in a type are not. */
function isReference(node: SyntaxNode, parent: SyntaxNode | undefined): boolean {
  if (parent === undefined) return true
  if (parent.type.startsWith('TS')) return false
  if (parent.type === 'MemberExpression') return parent.object === node || parent.computed === true
  const isShorthand = parent.shorthand === true
  return parent.key !== node || parent.computed === true || isShorthand
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && typeof node.name === 'string' ? node.name : undefined
}

/** `now` of `now`, `'now'` and `globalThis.x.now`. */
function lastName(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'MemberExpression') return lastName(node.property)
  return typeof node.value === 'string' ? node.value : nameOf(node)
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0
}
