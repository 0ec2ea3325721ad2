// Reads server-sent events: lines become blocks of id, event and data. It knows the format and nothing about what is in it.

export interface SentEvent {
  /** Where to come back to, if the block says; it may be all that it says. */
  readonly id: string | null
  readonly event: string | null
  /** Null for a block without data. */
  readonly data: string | null
}

/** Also blocks that carry nothing but an id: the reader keeps it in mind. */
export async function* sentEvents(lines: AsyncIterable<string>): AsyncGenerator<SentEvent> {
  let id: string | null = null
  let event: string | null = null
  let data: string[] = []
  for await (const line of lines) {
    if (line === '') {
      if (id !== null || event !== null || data.length > 0) {
        yield { id, event, data: data.length === 0 ? null : data.join('\n') }
      }
      id = null
      event = null
      data = []
      continue
    }
    const colon = line.indexOf(':')
    // A line that begins with a colon is a comment: a heartbeat.
    if (colon === 0) continue
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'event') event = value
    else if (field === 'data') data.push(value)
  }
}
