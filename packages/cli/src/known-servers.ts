// The servers that this user has said may get their tokens, one origin per line, as ssh keeps the hosts it knows: in the user's own
// configuration folder, for nobody else to read or write.

import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isRepriseError, messageOf } from '@reprise/core'
import { readOwnFile } from './configuration/own-file.ts'
import { CommandError } from './output/errors.ts'

export interface KnownServers {
  readonly path: string
  has(origin: string): boolean
  add(origin: string): Promise<void>
}

export function knownServers(env: Readonly<Record<string, string | undefined>>): KnownServers {
  const folder = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')
  const path = join(folder, 'reprise', 'known-servers')
  return {
    path,
    has: (origin) => originsIn(path).includes(origin),
    async add(origin) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const fresh = `${path}.${process.pid}`
      await writeFile(fresh, [...originsIn(path), origin, ''].join('\n'), { mode: 0o600 })
      await chmod(fresh, 0o600)
      await rename(fresh, path)
    },
  }
}

function originsIn(path: string): readonly string[] {
  try {
    return readOwnFile(path)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
  } catch (error) {
    if (isRepriseError(error)) throw new CommandError(`${path}: ${messageOf(error)}`)
    // There is none yet.
    return []
  }
}
