// The version of the application that a worker belongs to, for those who don't name one: that of the nearest package.json.
// Only a guess that operators see: whatever can't be read is passed over.

import { readFileSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'

const LEVELS_MAX = 50
const LENGTH_MAX = 100

/** Of the first of these folders that has one, in itself or above it; null if none has. Never throws. */
export function applicationVersion(folders: readonly string[]): string | null {
  for (const folder of folders) {
    const version = versionAbove(folder)
    if (version !== null) return version
  }
  return null
}

/** Where this process began: the folder of its script, unless that is a tool among the dependencies, then the working directory. */
export function applicationFolders(): readonly string[] {
  const [, script] = process.argv
  try {
    const own = script === undefined ? [] : [dirname(resolve(script))]
    return [...own.filter((folder) => !folder.split(sep).includes('node_modules')), process.cwd()]
  } catch {
    // The working directory was removed.
    return []
  }
}

function versionAbove(start: string): string | null {
  let folder = start
  for (let level = 0; level < LEVELS_MAX; level++) {
    const version = versionIn(join(folder, 'package.json'))
    if (version !== null) return version
    const above = dirname(folder)
    if (above === folder) return null
    folder = above
  }
  return null
}

function versionIn(file: string): string | null {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const version = typeof found === 'object' && found !== null && 'version' in found ? found.version : null
    return typeof version === 'string' && version.length <= LENGTH_MAX && /^[\x21-\x7e]+$/.test(version)
      ? version
      : null
  } catch {
    return null
  }
}
