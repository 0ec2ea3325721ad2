// Files that say where a token goes, or hold one: the configuration, the word of a local server, files of secrets, the servers that
// are known. One that somebody else may write to could send a token anywhere, so it is not read.

import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { InvalidError } from '@reprise/core'

/** Who asks; undefined where users have no numbers, and files no such modes. */
const ownId = (): number | undefined => process.getuid?.()

const ROOT = 0
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002

/** What is wrong with the file, and how to set it right; null if only its reader, and root, may change it. */
export function foreignness(
  path: string,
  { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  own = ownId(),
): string | null {
  if (own === undefined) return null
  if (uid !== own && uid !== ROOT) {
    return `It belongs to another user (${uid}), and is not read: it could send your token elsewhere. If it is yours, run 'chown ${own} ${path}'.`
  }
  // On many systems each user has a group of their own, with the same number, that nobody else is in.
  const isOthersGroup = gid !== uid
  const isOpen = (mode & OTHERS_WRITE) !== 0 || ((mode & GROUP_WRITES) !== 0 && isOthersGroup)
  if (!isOpen) return null
  const shown = (mode & 0o777).toString(8)
  return `Others may change it (mode ${shown}), and it is not read: it could send your token elsewhere. Run 'chmod go-w ${path}'.`
}

/** `InvalidError` for bytes of another encoding: replaced by something else, they would be a name that nobody wrote. */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new InvalidError('It is not a text in UTF-8. Save it in that encoding.')
  }
}

/** The text of a file that nobody else may write to; `InvalidError` if they may. The very file that was checked is read. */
export function readOwnFile(path: string): string {
  const file = openSync(path, 'r')
  try {
    const problem = foreignness(path, fstatSync(file))
    if (problem !== null) throw new InvalidError(problem)
    return textOf(readFileSync(file))
  } finally {
    closeSync(file)
  }
}

/** What a file of a secret holds; `InvalidError` if it can't be read, or holds nothing. */
export function contentsOf(path: string): string {
  try {
    const contents = readOwnFile(path).trim()
    if (contents !== '') return contents
  } catch (error) {
    if (error instanceof InvalidError) throw error
    const why = error instanceof Error ? error.message : 'for an unknown reason'
    throw new InvalidError(`The file it names can't be read: ${why}.`)
  }
  throw new InvalidError('The file it names is empty.')
}
