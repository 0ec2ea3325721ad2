// The sealed journal as a file of lines, for an archive that somebody else keeps: each seal's entries, then the seal. The file says
// itself how far it is, by its last seal, so nothing about it is in the store. What a crash cut off in the middle is cut away, and
// written again. Each process that is given a file writes its own.

import { type FileHandle, open } from 'node:fs/promises'
import type { JournalEntry } from '@reprise/core'
import { type Seal, sealId, sealsIn } from './seal.ts'
import type { AuditEngine } from './sealer.ts'
import { entriesOf } from './verify.ts'

/** One line of the file, and of `reprise audit export`. */
export type AuditLine =
  | { readonly kind: 'entry'; readonly seal: number; readonly entry: JournalEntry }
  | ({ readonly kind: 'seal' } & Omit<Seal, 'id'>)

const SEALS_AT_ONCE = 100
/** For its owner: entries name people, tasks and errors. */
const MODE = 0o600
/** The last seal stands within this many bytes of the end, unless an entry was cut off. */
const TAIL_BYTES = 1_048_576

export class AuditFile {
  readonly #path: string
  readonly #engine: AuditEngine
  #next: number | null = null

  constructor(path: string, engine: AuditEngine) {
    this.#path = path
    this.#engine = engine
  }

  /** Writes the seals that are not in the file yet, some at a time. */
  async goOn(signal: AbortSignal): Promise<void> {
    for (let seal = 0; seal < SEALS_AT_ONCE && !signal.aborted; seal++) {
      const number = this.#next ?? (await this.#lastInFile()) + 1
      const stored = await sealsIn(this.#engine).get(sealId(number))
      if (stored === null) {
        this.#next = number
        return
      }
      await this.#write(await linesOf(this.#engine, stored.document))
      this.#next = number + 1
    }
  }

  async #write(lines: readonly AuditLine[]): Promise<void> {
    const file = await open(this.#path, 'a', MODE)
    try {
      await file.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      await file.sync()
    } catch (error) {
      // Part of it may be there: the file is looked at again, and cut.
      this.#next = null
      throw error
    } finally {
      await file.close()
    }
  }

  /** The number of the last seal that is whole. What follows it is cut off. */
  async #lastInFile(): Promise<number> {
    const file = await open(this.#path, 'a+', MODE)
    try {
      const { size } = await file.stat()
      const from = Math.max(0, size - TAIL_BYTES)
      const found = lastSeal(await textFrom(file, from, size))
      if (found === null) {
        await file.truncate(from)
        return 0
      }
      await file.truncate(from + found.end)
      return found.number
    } finally {
      await file.close()
    }
  }
}

async function textFrom(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from)
  await file.read(bytes, 0, bytes.length, from)
  return bytes
}

const NEWLINE = 0x0a

function lastSeal(bytes: Buffer): { readonly number: number; readonly end: number } | null {
  let end = bytes.lastIndexOf(NEWLINE)
  while (end >= 0) {
    const start = end === 0 ? 0 : bytes.lastIndexOf(NEWLINE, end - 1) + 1
    const line = bytes.subarray(start, end).toString()
    if (line.startsWith('{"kind":"seal"')) {
      const { number } = JSON.parse(line) as Seal
      return { number, end: end + 1 }
    }
    if (start === 0) return null
    end = start - 1
  }
  return null
}

/** What a seal covers, as far as it is still there, and the seal. */
export async function linesOf(engine: AuditEngine, seal: Seal): Promise<readonly AuditLine[]> {
  const found = await entriesOf(engine, seal)
  const { id: _, ...content } = seal
  return [
    ...seal.entries.flatMap(([id]) => {
      const entry = found.get(id)
      return entry === undefined ? [] : [{ kind: 'entry', seal: seal.number, entry } as const]
    }),
    { kind: 'seal', ...content },
  ]
}
