// Why a module of the user's could not be loaded, with the file and the line: a word that no compiler understands, an import
// of something that is not there, or an error that the module itself threw.

import { readFileSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { messageOf } from '@reprise/core'

interface LoadProblem {
  /** `lib/colours.ts:3: Unexpected token` */
  readonly text: string
  readonly hint: string | undefined
}

export function loadProblem(error: unknown, cwd: string): LoadProblem {
  const message = messageOf(error)
  const missing = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1]
  if (missing !== undefined) return missingModule(missing, message, cwd)
  const [, what, file, line] = /^ParseError: (.*?)\s+(\S[^\n]*?):(\d+):\d+/.exec(message) ?? []
  if (what !== undefined && file !== undefined) return at(cwd, file, line, what)
  const place = firstPlace(error)
  const [first = message] = message.split('\n')
  return place === null ? { text: first, hint: undefined } : at(cwd, place.file, place.line, first)
}

function missingModule(missing: string, message: string, cwd: string): LoadProblem {
  const importer = /imported from (\S+)|Require stack:\n- ([^\n]+)/.exec(message)
  const file = importer?.[1] ?? importer?.[2]
  const isFile = /^(?:\.|\/|[A-Za-z]:)/.test(missing)
  const hint = isFile
    ? 'Check the path in that line.'
    : `Install it: npm install ${missing.split('/', missing.startsWith('@') ? 2 : 1).join('/')}`
  const text = `'${isFile && !missing.startsWith('.') ? relative(cwd, missing) : missing}' is not there.`
  return file === undefined ? { text, hint } : { ...at(cwd, file, lineOf(file, basename(missing)), text), hint }
}

function at(cwd: string, file: string, line: string | undefined, what: string): LoadProblem {
  return { text: `${relative(cwd, pathOf(file))}${line === undefined ? '' : `:${line}`}: ${what}`, hint: undefined }
}

/** Of the first line that names it in quotes, or at the end of a path in quotes. */
function lineOf(file: string, name: string): string | undefined {
  try {
    const lines = readFileSync(pathOf(file), 'utf8').split('\n')
    const found = lines.findIndex((line) => ["'", '"', '`'].some((quote) => line.includes(`${name}${quote}`)))
    return found === -1 ? undefined : String(found + 1)
  } catch {
    return undefined
  }
}

/** Where it was thrown, in a file of the user's: Node's own lines and those of dependencies are passed over. */
function firstPlace(error: unknown): { readonly file: string; readonly line: string } | null {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  for (const text of stack.split('\n', 40)) {
    const [, file, line] =
      /(?:^|\(|at )((?:file:\/\/|\/|[A-Za-z]:\\)[^()\n]*?):(\d+)(?::\d+)?\)?$/.exec(text.trim()) ?? []
    if (file !== undefined && line !== undefined && !file.includes('node_modules')) return { file, line }
  }
  return null
}

const pathOf = (file: string): string => (file.startsWith('file://') ? fileURLToPath(file) : file)
