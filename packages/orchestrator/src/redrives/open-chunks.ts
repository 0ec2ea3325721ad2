// The chunks of a redrive as the process that moves it reads and writes them: the next one is read, and the last one written, while
// the store is busy with the items of this one. Chunks are written one at a time, over the very version that was read. Should the
// process die before a chunk is written, the next process finds in the journal what was sent.

import { type Collection, isRepriseError, type Stored } from '@reprise/core'
import { chunkId, type ItemNews, type RedriveChunk, withNews } from './chunk.ts'

/** Another process moves this redrive now, or it is gone. */
export class RedriveLost extends Error {
  constructor(id: string) {
    super(`Another process moves redrive '${id}' now.`)
    this.name = 'RedriveLost'
  }
}

export class OpenChunks {
  readonly #chunks: Collection<RedriveChunk>
  readonly #redrive: string
  #ahead: { readonly at: number; readonly read: Promise<Stored<RedriveChunk> | null> } | null = null
  #behind: { readonly at: number; readonly write: Promise<void> } | null = null

  constructor(chunks: Collection<RedriveChunk>, redrive: string) {
    this.#chunks = chunks
    this.#redrive = redrive
  }

  async read(at: number): Promise<Stored<RedriveChunk>> {
    if (this.#behind?.at === at) await this.written()
    const ahead = this.#ahead?.at === at ? this.#ahead.read : this.#get(at)
    this.#ahead = null
    const stored = await ahead
    if (stored === null) throw new RedriveLost(this.#redrive)
    return stored
  }

  /** Begins to read the chunk that is likely to be asked for next. */
  readAhead(at: number): void {
    if (this.#behind?.at === at) return
    const read = this.#get(at)
    // An error is for the one who asks for the chunk. Perhaps nobody does.
    read.catch(() => undefined)
    this.#ahead = { at, read }
  }

  /** Begins to write the chunk with this news, and answers with it. What went wrong is told with the next write, or by `written`. */
  async write(at: number, { document, version }: Stored<RedriveChunk>, news: ReadonlyMap<number, ItemNews>) {
    await this.written()
    if (this.#ahead?.at === at) this.#ahead = null
    const chunk = withNews(document, news)
    const write = this.#update(chunk, version)
    write.catch(() => undefined)
    this.#behind = { at, write }
    return chunk
  }

  /** When all that was written is stored. Throws `RedriveLost`. */
  async written(): Promise<void> {
    await this.#behind?.write
    this.#behind = null
  }

  #get(at: number): Promise<Stored<RedriveChunk> | null> {
    return this.#chunks.get(chunkId(this.#redrive, at))
  }

  async #update(chunk: RedriveChunk, version: number): Promise<void> {
    try {
      await this.#chunks.update(chunk, version)
    } catch (error) {
      if (isRepriseError(error, 'REPRISE_CONFLICT')) throw new RedriveLost(this.#redrive)
      throw error
    }
  }
}
