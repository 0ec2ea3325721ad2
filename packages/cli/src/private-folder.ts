// The data folder belongs to one user: the store and a token are in it. A new one is made so. One that is there already and
// that others may write to is mended, and it is said; one of another user is refused, unless root asks.

import { chmod, mkdir, stat } from 'node:fs/promises'
import { CommandError } from './output/errors.ts'

const OWNER_ONLY = 0o700
const WRITABLE_BY_OTHERS = 0o022
const ROOT = 0

/** Makes the data folder if it is not there. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: OWNER_ONLY })
  } catch (error) {
    throw unusableFolder(path, error)
  }
}

/** No such folder can be made, or nothing can be written there. */
export function unusableFolder(path: string, error: unknown): CommandError {
  const cause = error instanceof Error ? error.message : String(error)
  return new CommandError(`The data folder ${path} can't be used: ${cause}.`, {
    hint: 'Is its disk full, or read-only? Make room, or choose another folder with --data.',
  })
}

/** Gives a sentence to tell if not all was well; null if it was. */
export async function makePrivateFolder(path: string): Promise<string | null> {
  await makeFolder(path)
  // Windows has neither owners nor modes of this kind.
  const ownId = process.getuid?.()
  if (ownId === undefined) return null
  const { uid, mode } = await stat(path)
  if (uid !== ownId) {
    const says = `The data folder ${path} belongs to another user, who can read and change what is in it.`
    // In a container root often works in a folder of somebody else, on purpose.
    if (ownId === ROOT) return says
    throw new CommandError(says, { hint: 'Choose another folder with --data, or make it yours.' })
  }
  if ((mode & WRITABLE_BY_OTHERS) === 0) return null
  await chmod(path, OWNER_ONLY)
  return `Other users could write to the data folder ${path}. Now only you can. Look whether all that is in it is yours.`
}
