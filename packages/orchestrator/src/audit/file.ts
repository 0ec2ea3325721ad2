// The sealed journal as a file of lines, for an archive that somebody else keeps: each seal's entries, then the seal. The file says
// itself how far it is, by its last seal, so nothing about it is in the store. What a crash cut off in the middle is cut away, and
// written again. Each process that is given a file writes its own.

import { type FileHandle, open } from 'node:fs/promises'
import { InvalidError, type JournalEntry } from '@reprise/core'
import { HEAD_ID, type Seal, sealHeadIn, sealId, sealsIn } from './seal.ts'
import type { AuditEngine } from './sealer.ts'
import { entriesOf } from './verify.ts'

/** One line of the file, and of `reprise audit export`. */
export type AuditLine =
  | { readonly kind: 'entry'; readonly seal: number; readonly entry: JournalEntry }
  | ({ readonly kind: 'seal' } & Omit<Seal, 'id'>)

const SEALS_AT_ONCE = 100
/** For its owner: entries name people, tasks and errors. */
const MODE = 0o600
/** The file is read from its end on in pieces of this size, until a seal is found. */
const PIECE_BYTES = 1_048_576

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
      const number = Math.max(this.#next ?? (await this.#lastInFile()) + 1, await this.#firstLeft())
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
      await file.appendFile(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      await file.sync()
    } catch (error) {
      // Part of it may be there: the file is looked at again, and cut.
      this.#next = null
      throw error
    } finally {
      await file.close()
    }
  }

  /** The oldest seal that retention has left. */
  async #firstLeft(): Promise<number> {
    return ((await sealHeadIn(this.#engine).get(HEAD_ID))?.document.base.number ?? 0) + 1
  }

  /** A file that somebody else writes is not cut: the configuration names the wrong one. */
  async #refuseOther(file: FileHandle): Promise<void> {
    const begun = await bytesFrom(file, 0, LINE_START.length)
    if (LINE_START.startsWith(begun.toString().replace(/\0+$/, ''))) return
    throw new InvalidError(`${this.#path} is not a file of the audit. Name another one, or move it away.`)
  }

  /** The number of the last seal that is whole. What follows it is cut off. */
  async #lastInFile(): Promise<number> {
    const file = await open(this.#path, 'a+', MODE)
    try {
      const { size } = await file.stat()
      const found = await lastSeal(file, size)
      if (found.number === 0 && size > 0) await this.#refuseOther(file)
      await file.truncate(found.end)
      return found.number
    } finally {
      await file.close()
    }
  }
}

const NEWLINE = 0x0a
/** How the first line of every such file begins, or what a crash left of it. */
const LINE_START = '{"kind":"'
const SEAL = Buffer.from('{"kind":"seal"')

/** The last whole line that is a seal, and where it ends; nothing and the beginning if there is none. */
async function lastSeal(file: FileHandle, size: number): Promise<{ readonly number: number; readonly end: number }> {
  // Of what was read before, only the line that the piece began in is needed: it may be the rest of a seal.
  let rest: Buffer<ArrayBuffer> = Buffer.alloc(0)
  for (let to = size; to > 0; to -= PIECE_BYTES) {
    const from = Math.max(0, to - PIECE_BYTES)
    const bytes = Buffer.concat([await bytesFrom(file, from, to), rest])
    const found = sealIn(bytes, from === 0)
    if (found !== null) return { number: found.number, end: from + found.end }
    const first = bytes.indexOf(NEWLINE)
    rest = first === -1 ? bytes : bytes.subarray(0, first + 1)
  }
  return { number: 0, end: 0 }
}

async function bytesFrom(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from)
  await file.read(bytes, 0, bytes.length, from)
  return bytes
}

/** `isStart` says that the first line begins there. */
function sealIn(bytes: Buffer, isStart: boolean): { readonly number: number; readonly end: number } | null {
  let end = bytes.lastIndexOf(NEWLINE)
  while (end >= 0) {
    const before = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1)
    if (before === -1 && !isStart) return null
    const line = bytes.subarray(before + 1, end)
    if (line.subarray(0, SEAL.length).equals(SEAL)) {
      const { number } = JSON.parse(line.toString()) as Seal
      return { number, end: end + 1 }
    }
    end = before
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
