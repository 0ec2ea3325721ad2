// Reads a file that a person wrote, within bounds. What it says is not looked at here.

import { readFile, stat } from 'node:fs/promises'
import { FILE_BYTES_MAX } from './place.ts'
import { ConfigurationError } from './problems.ts'

export interface ConfigurationText {
  readonly text: string
  /** When the file was last changed, as far as its file system tells. */
  readonly changedAt: number
}

/** `ConfigurationError` if it can't be read, is too large or is no text. */
export async function readConfigurationFile(file: string): Promise<ConfigurationText> {
  const refuse = (message: string): never => {
    throw new ConfigurationError([{ file, line: 1, column: 1, path: '', message }])
  }
  try {
    // Asked first: what is too large is not even read.
    const { size, mtimeMs } = await stat(file)
    if (size > FILE_BYTES_MAX) refuse(`It has ${size} bytes; at most ${FILE_BYTES_MAX} are allowed.`)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file))
    return { text, changedAt: mtimeMs }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error
    if (error instanceof TypeError) return refuse('It is not a text in UTF-8.')
    return refuse(`It can't be read: ${error instanceof Error ? error.message : 'for an unknown reason'}.`)
  }
}
