// What a command reads: a text as it stands, a file (`@name`), or standard input (`-`).

import { resolve } from 'node:path'
import { decodeUtf8, messageOf } from '@reprise/core'
import { usageError } from '../output/errors.ts'
import type { Invocation } from './invocation.ts'

export async function textOf({ host }: Invocation, source: string): Promise<string> {
  if (source === '-') return host.stdin.text()
  return source.startsWith('@') ? fileText(resolve(host.cwd, source.slice(1))) : source
}

export async function fileText(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const bytes = await readFile(path).catch((error: unknown) => {
    throw usageError(`The file ${path} can't be read: ${messageOf(error)}`, undefined, error)
  })
  return decodeUtf8(bytes, `The file ${path}`)
}

/** `where` is said before what is wrong. */
export function jsonOf(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usageError(
      `${where} is not JSON: ${messageOf(error)}`,
      `Objects as '{"name":"Ann"}', texts in double quotes as '"Ann"', a file as @payload.json.`,
    )
  }
}
