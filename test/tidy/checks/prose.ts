// The shape of prose: lines of Markdown that fit beside each other on a screen, and words that a reader who learnt English
// at school takes in at once. Tables, code and what can't be broken, such as a long link, may be wider.

import type { SourceFile } from './source.ts'

const maxColumns = 120

export function lineProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    let isCode = false
    return text.split('\n').flatMap((line, index) => {
      if (/^\s*```/.test(line)) isCode = !isCode
      if (isCode || line.startsWith('|') || line.length <= maxColumns || !canBeBroken(line)) return []
      return [`${path}:${index + 1}: ${line.length} characters; wrap prose at ${maxColumns}`]
    })
  })
}

/** Each hides a noun. */
const unclear = /\b(?:whoever|whom|so many)\b/i

export function wordProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const found = unclear.exec(line)
      return found === null
        ? []
        : [`${path}:${index + 1}: "${found[0]}"; name the worker, the caller, the number instead`]
    }),
  )
}

/** Whether there is a blank before the limit to break at; inside of a link there is none. */
function canBeBroken(line: string): boolean {
  const words = line.trim().replace(/!?\[[^\]]*\]\([^)]*\)/g, (link) => link.replaceAll(' ', '_'))
  return words.replace(/^(?:[-*>]|\d+\.|#+) /, '').includes(' ')
}
