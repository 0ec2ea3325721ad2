// Failures with one cause share one fingerprint, though each names another id, path or number. The fingerprint is made
// of the action, the code, the error's name, the message with everything variable folded, and the top own stack frame.
// Line numbers are left out: a deploy that shifts a file must not split a group.

import type { ActionName, Fingerprint } from '../model/ids.ts'
import { remembered } from '../runtime/remembered.ts'
import { digest64 } from './digest.ts'
import { messageShape } from './message-shape.ts'
import type { Normalised } from './normalise.ts'

/** A cause that strikes a thousand times mostly says the same each time. */
const shapeOf = remembered(messageShape, { textsMax: 200, lengthMax: 1_000 })

export function fingerprintOf(
  action: ActionName,
  failure: Pick<Normalised, 'code' | 'name' | 'message' | 'stack'>,
): Fingerprint {
  const parts = [action, failure.code ?? '', failure.name, shapeOf(failure.message), topOwnFrame(failure.stack)]
  return digest64(parts.join('\u0000')) as Fingerprint
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
