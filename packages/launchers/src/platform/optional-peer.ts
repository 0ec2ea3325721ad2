// Loads what only one kind of launcher needs. These packages are optional peers: whoever uses the launcher installs its package, and
// nobody else has to.

import { InvalidError } from '@reprise/core'

export async function optionalPeer<Module>(name: string, user: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    const isMissing =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(name)
    if (!isMissing) throw error
    throw new InvalidError(`The ${user} needs the package ${name}. Install it: npm install ${name}`, { cause: error })
  }
}
