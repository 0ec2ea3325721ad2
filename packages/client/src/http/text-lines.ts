// Lines out of an answer that comes as a stream, one at a time. A slow reader slows the sender; a stream from which
// nothing comes for too long is given up.

import { type Clock, isRepriseError, notReprise, type OpenStream, RequestError, TimedOutError } from '@reprise/core'

/** Longer than any task or event that a server sends. */
const LINE_LENGTH_MAX = 64_000_000

export interface LineOptions {
  readonly clock: Clock
  /** The server, as messages name it. */
  readonly serverName: string
  /** How long nothing may come. */
  readonly idleMs: number
}

export async function* textLines(
  { response, abort }: OpenStream,
  { clock, serverName, idleMs }: LineOptions,
): AsyncGenerator<string> {
  if (response.body === null) return
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await read(reader, abort, { clock, serverName, idleMs })
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true })
      let start = 0
      for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n', start)) {
        yield rest.slice(start, end).replace(/\r$/, '')
        start = end + 1
      }
      rest = rest.slice(start)
      if (rest.length > LINE_LENGTH_MAX) throw notReprise(serverName)
      if (done) break
    }
    if (rest !== '') yield rest
  } finally {
    abort.abort()
    // What is left unread is of no interest to anybody.
    await reader.cancel().catch(() => undefined)
  }
}

async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  abort: AbortController,
  { clock, serverName, idleMs }: LineOptions,
): ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']> {
  let isIdle = false
  const timer = clock.after(idleMs, () => {
    isIdle = true
    abort.abort()
  })
  try {
    return await reader.read()
  } catch (error) {
    if (isIdle) throw new TimedOutError(`${serverName} has sent nothing for too long.`)
    // Of a client that was closed, or a caller who has gone.
    if (isRepriseError(error) || abort.signal.aborted) throw error
    throw new RequestError('REPRISE_UNREACHABLE', `${serverName} was cut off while it answered.`)
  } finally {
    timer.cancel()
  }
}
