// The protocol of Redis, as much of it as tests need: writing a command, cutting a stream of bytes into whole messages
// (RESP 2 and 3), and reading one RESP 2 message. It is no client: nothing here connects or waits.

/** An error inside an array (as EXEC may answer) is an Error; one that is the whole answer rejects instead. */
export type RedisReply = string | number | null | Error | RedisReply[]

export function encodeCommand(args: readonly string[]): Buffer {
  const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`)
  return Buffer.from(`*${args.length}\r\n${parts.join('')}`)
}

/** Cuts what comes over a connection into whole messages, wherever the chunks happen to end. */
export class MessageSplitter {
  #bytes: Buffer = Buffer.alloc(0)
  /** How far the message at the start of #bytes has been followed, and how many values it still lacks. */
  #at = 0
  #missing = 1

  /** The messages that this chunk completes. */
  push(chunk: Buffer): Buffer[] {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
    const messages: Buffer[] = []
    while (this.#follow()) {
      messages.push(this.#bytes.subarray(0, this.#at))
      this.#bytes = this.#bytes.subarray(this.#at)
      this.#at = 0
      this.#missing = 1
    }
    return messages
  }

  /** Goes on from where the last chunk ended; true when the message is whole. */
  #follow(): boolean {
    while (this.#missing > 0) {
      if (this.#at >= this.#bytes.length) return false
      const lineEnd = this.#bytes.indexOf('\r\n', this.#at)
      if (lineEnd < 0) return false
      const type = String.fromCharCode(this.#bytes[this.#at] ?? 0)
      const length = Number(this.#bytes.toString('latin1', this.#at + 1, lineEnd))
      const count = Math.max(0, length)
      this.#at = lineEnd + 2
      this.#missing -= 1
      switch (type) {
        case '$':
        case '=':
        case '!':
          if (length >= 0) this.#at += length + 2 // -1 says that there is no string at all
          break
        case '*':
        case '~':
        case '>':
          this.#missing += count
          break
        case '%':
          this.#missing += count * 2
          break
        case '|': // attributes come before the value that they describe
          this.#missing += count * 2 + 1
          break
        default: // the line is the value
          break
      }
    }
    return this.#at <= this.#bytes.length
  }
}

/** RESP 3 servers send these between the replies, unasked. */
export function isPush(message: Buffer): boolean {
  return message[0] === '>'.charCodeAt(0)
}

/** Reads one whole RESP 2 message. */
export function decodeReply(message: Buffer): RedisReply {
  return read(message, { at: 0 })
}

function read(bytes: Buffer, cursor: { at: number }): RedisReply {
  const lineEnd = bytes.indexOf('\r\n', cursor.at)
  const type = String.fromCharCode(bytes[cursor.at] ?? 0)
  const line = bytes.toString('utf8', cursor.at + 1, lineEnd)
  cursor.at = lineEnd + 2
  switch (type) {
    case '+':
      return line
    case '-':
      return new Error(line)
    case ':':
      return Number(line)
    case '$': {
      const length = Number(line)
      if (length < 0) return null
      const text = bytes.toString('utf8', cursor.at, cursor.at + length)
      cursor.at += length + 2
      return text
    }
    case '*': {
      const length = Number(line)
      return length < 0 ? null : Array.from({ length }, () => read(bytes, cursor))
    }
    default:
      throw new Error(`The server answered with something that is not RESP 2: ${type}${line}`)
  }
}
