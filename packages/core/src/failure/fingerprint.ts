// Failures with one cause share one fingerprint, though each names another id, path or number. The fingerprint is made
// of the action, the code, the error's name, the message with everything variable folded, and the top own stack frame.
// Line numbers are left out: a deploy that shifts a file must not split a group.

import type { ActionName, Fingerprint } from '../model/ids.ts'
import { digest64 } from './digest.ts'
import type { Normalised } from './normalise.ts'

// Folded first and cut then, so that the length of an id does not move the cut.
const FOLDED_LENGTH_MAX = 4_000
const SHAPE_LENGTH_MAX = 500

// Order matters: larger things first. Each pattern is a plain character-class run, so it takes linear time.
const FOLDS: readonly (readonly [RegExp, string])[] = [
  [/[a-z][a-z0-9+.-]{1,20}:\/\/[^\s'"`)\]>,]+/gi, '<url>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>'],
  // Not the apostrophe of "can't".
  [/"[^"]*"|(?<!\w)'[^']*'|`[^`]*`/g, '<text>'],
  [/(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, '<email>'],
  [/(?:[a-z]:)?(?:[\\/][\w.@+-]+){2,}/gi, '<path>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  // With a digit and a letter: a long number is a number like a short one, and a word is a word.
  [/\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b/gi, '<hex>'],
  [/\b[a-z]{1,12}_(?=[a-z]*\d)[0-9a-z]+\b/gi, '<id>'],
  // Long words of letters and digits: ULIDs and the like.
  [/\b(?=[a-z]*\d)(?=\d*[a-z])[0-9a-z]{16,}\b/gi, '<id>'],
  [/\d+(?:[.,:]\d+)*/g, '<n>'],
  [/\s+/g, ' '],
]

export function fingerprintOf(
  action: ActionName,
  failure: Pick<Normalised, 'code' | 'name' | 'message' | 'stack'>,
): Fingerprint {
  const parts = [action, failure.code ?? '', failure.name, messageShape(failure.message), topOwnFrame(failure.stack)]
  return digest64(parts.join('\u0000')) as Fingerprint
}

/** The message with numbers, ids, hex, paths, addresses and quoted text folded away. */
export function messageShape(message: string): string {
  let shape = message.slice(0, FOLDED_LENGTH_MAX)
  for (const [pattern, mark] of FOLDS) shape = shape.replace(pattern, mark)
  return shape.trim().slice(0, SHAPE_LENGTH_MAX)
}

/** 'function file' of the first frame that is neither Node's nor a dependency's; empty if there is none. */
export function topOwnFrame(stack: string | null): string {
  if (stack === null) return ''
  for (const line of stack.split('\n', 40)) {
    const frame = line.trim()
    if (
      !frame.startsWith('at ') ||
      frame.includes('node_modules') ||
      frame.includes('node:') ||
      frame.includes('<anonymous>')
    )
      continue
    const open = frame.lastIndexOf('(')
    const where = open === -1 ? frame.slice(3) : frame.slice(open + 1, -1)
    const file = where
      .slice(Math.max(where.lastIndexOf('/'), where.lastIndexOf('\\')) + 1)
      .replace(/(?::\d+){1,2}\)?$/, '')
    const name = open === -1 ? '' : frame.slice(3, open).trim()
    return `${name} ${file}`.trim()
  }
  return ''
}
