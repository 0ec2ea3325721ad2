// For packages that only one kind of launcher needs. They are optional peers: who uses the launcher installs its package, and
// nobody else has to. A bundler leaves out what is not installed if the failure of its import is handled right there.

import { InvalidError } from '@reprise/core'

/** Handles the failure of `import(name)`: says what to install if it is not there. */
export const orInstall =
  (name: string, user: string) =>
  (error: unknown): never => {
    const isMissing =
      error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes(name)
    if (!isMissing) throw error
    throw new InvalidError(`The ${user} needs the package ${name}. Install it: npm install ${name}`, { cause: error })
  }
