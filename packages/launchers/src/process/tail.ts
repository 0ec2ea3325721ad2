// The end of a stream whose length nobody knows: keeps the last bytes, and forgets the rest while it comes.

import { stripVTControlCharacters } from 'node:util'

export class Tail {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #bytes = 0
  #isCut = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    // Gathered up now and then, so that a stream of single bytes does not become a list of single bytes.
    if (this.#bytes > 2 * this.#maxBytes || this.#chunks.length > 1_000) this.#gather()
  }

  /** The last whole lines, without colours and control characters. */
  lines(): string {
    this.#gather()
    const text = this.#chunks[0]?.toString('utf8') ?? ''
    const whole = this.#isCut && text.includes('\n') ? text.slice(text.indexOf('\n') + 1) : text
    const plain = stripVTControlCharacters(whole).replaceAll('\r\n', '\n').replaceAll('\r', '\n')
    return plain.replace(/[^\P{Cc}\n\t]/gu, '').trim()
  }

  /** The last line that is not blank; null if there is none, or if it is longer than what is kept. */
  lastLine(): string | null {
    this.#gather()
    const text = (this.#chunks[0]?.toString('utf8') ?? '').trimEnd()
    const start = text.lastIndexOf('\n') + 1
    if (text === '' || (start === 0 && this.#isCut)) return null
    return text.slice(start).trim()
  }

  #gather(): void {
    const all = Buffer.concat(this.#chunks)
    const cutBytes = Math.max(all.length - this.#maxBytes, 0)
    if (cutBytes > 0) this.#isCut = true
    // A copy, so that the rest of a large chunk is not kept alive by its end.
    this.#chunks = [Buffer.from(all.subarray(cutBytes))]
    this.#bytes = this.#chunks[0]?.length ?? 0
  }
}
