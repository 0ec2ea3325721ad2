// A file of exported lines that outlives a loss of power: once `append` has come back, the lines and the file's name are on the disk.
// After an error nobody knows how much of the last lines is there, and a file system may have forgotten what it failed to write. So the
// file is left as it is, and the next lines go to a new one. No two processes write to one file.

import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** What dead letters carry is for their owners alone. */
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

interface OpenFile {
  readonly name: string
  readonly handle: FileHandle
}

export class ExportFile {
  readonly #folder: string
  #file: OpenFile | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The name of the file that has them now. `at` is the time that stands in the name of a new file. */
  async append(lines: readonly string[], at: number): Promise<string> {
    this.#file ??= await create(this.#folder, at)
    const { name, handle } = this.#file
    try {
      await handle.appendFile(lines.map((line) => `${line}\n`).join(''))
      await handle.sync()
      return name
    } catch (error) {
      await this.close().catch(() => undefined)
      throw error
    }
  }

  /** What comes later goes to another file. */
  async close(): Promise<void> {
    const file = this.#file
    this.#file = null
    await file?.handle.close()
  }
}

async function create(folder: string, at: number): Promise<OpenFile> {
  const topmost = await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  const time = new Date(at).toISOString().replace(/[:.]/g, '-')
  const name = `dead-letters-${time}-${randomUUID().slice(0, 8)}.ndjson`
  const handle = await open(join(folder, name), 'ax', FILE_MODE)
  try {
    await syncFolder(folder)
    if (topmost !== undefined) await syncUpTo(dirname(topmost), folder)
    return { name, handle }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The names of new folders stand in the folders above them. */
async function syncUpTo(top: string, folder: string): Promise<void> {
  let above = folder
  while (above !== top && above !== dirname(above)) {
    above = dirname(above)
    await syncFolder(above)
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
