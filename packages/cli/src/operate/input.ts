// What a command reads: a text as it stands, a file (`@name`), or standard input (`-`).

import { resolve } from 'node:path'
import type { Invocation } from '../frame/invocation.ts'
import { CommandError } from '../output/errors.ts'
import { EXIT } from '../output/exit-codes.ts'

export async function textOf({ host }: Invocation, source: string): Promise<string> {
  if (source === '-') return host.stdin.text()
  return source.startsWith('@') ? fileText(resolve(host.cwd, source.slice(1))) : source
}

async function fileText(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(
      `The file ${path} can't be read: ${error instanceof Error ? error.message : String(error)}`,
      {
        exitCode: EXIT.usage,
        cause: error,
      },
    )
  })
}

/** `where` is said before what is wrong. */
export function jsonOf(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandError(`${where} is not JSON: ${error instanceof Error ? error.message : ''}`, {
      exitCode: EXIT.usage,
      hint: `Objects as '{"name":"Ann"}', texts in double quotes as '"Ann"', a file as @payload.json.`,
    })
  }
}
