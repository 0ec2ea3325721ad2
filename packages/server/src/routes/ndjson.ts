// Lines of JSON out of a request's body, as they come and each within bounds: a body of any length takes the memory of one line.
// The reader may stop at any moment. What is still being sent then is let go by, within bounds, so that the answer gets
// through and the connection is as good as before.

import type { IncomingMessage } from 'node:http'
import { type Clock, PAYLOAD_BYTES_MAX, RequestError } from '@reprise/core'

/** A submission is its payload and a little more. */
const LINE_BYTES_MAX = PAYLOAD_BYTES_MAX + 65_536
/** A longer line is passed over up to here; then nobody expects it to end. */
const SKIP_BYTES_MAX = 16_777_216
const LINES_MAX = 1_000_000
/** What is let go by after the last line that was taken, and for how long after the last answer. */
const LEAVE_BYTES_MAX = 67_108_864
const LEAVE_MS = 2_000

/** A line by its number, from 1, blank ones counted; without its text if it is too long. */
export interface TextLine {
  readonly line: number
  readonly text: string | null
}

/** What came: lines, nothing within the time, the end of the body, or the sign to stop. */
export type Arrival = Iterable<TextLine> | 'quiet' | 'end' | 'stopped'

export class LineReader {
  readonly #request: IncomingMessage
  readonly #clock: Clock
  readonly #stop: AbortSignal
  readonly #chunks: AsyncIterator<Buffer>
  #pending: Promise<IteratorResult<Buffer>> | null = null
  #rest: Buffer[] = []
  #restBytes = 0
  #line = 1
  #isEnd = false

  constructor(request: IncomingMessage, clock: Clock, stop: AbortSignal) {
    this.#request = request
    this.#clock = clock
    this.#stop = stop
    // A request that is destroyed takes its connection along, and with it the answer.
    this.#chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  }

  /** The number of the line that comes next. */
  get line(): number {
    return this.#line
  }

  /** What comes next, waited for at most so long; for ever if that is null. The lines must be taken before more is asked for. */
  async next(waitMs: number | null): Promise<Arrival> {
    if (this.#stop.aborted) return 'stopped'
    if (this.#isEnd) return 'end'
    this.#pending ??= this.#chunks.next()
    const came = await this.#within(this.#pending, waitMs)
    if (typeof came === 'string') return came
    this.#pending = null
    if (came.done !== true) return this.#split(came.value)
    this.#isEnd = true
    return this.#restBytes > 0 ? [this.#taken()] : 'end'
  }

  #within<T>(coming: Promise<T>, waitMs: number | null): Promise<T | 'quiet' | 'stopped'> {
    return new Promise((resolve, reject) => {
      const stop = (): void => end(() => resolve('stopped'))
      const timer =
        waitMs === null ? null : this.#clock.after(waitMs, () => end(() => resolve('quiet')), { hold: true })
      const end = (settle: () => void): void => {
        timer?.cancel()
        this.#stop.removeEventListener('abort', stop)
        settle()
      }
      this.#stop.addEventListener('abort', stop, { once: true })
      coming.then(
        (value) => end(() => resolve(value)),
        (error: unknown) => end(() => reject(error instanceof Error ? error : new Error(String(error)))),
      )
    })
  }

  *#split(chunk: Buffer): Generator<TextLine, void, undefined> {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(0x0a, start)
      this.#add(chunk.subarray(start, end === -1 ? chunk.length : end))
      if (end === -1) return
      const line = this.#taken()
      if (line.text === null || line.text.trim() !== '') yield line
      start = end + 1
    }
  }

  #add(part: Buffer): void {
    if (part.length === 0) return
    if (this.#line > LINES_MAX) throw tooMany()
    this.#restBytes += part.length
    if (this.#restBytes <= LINE_BYTES_MAX) this.#rest.push(part)
    else this.#rest = []
    if (this.#restBytes > SKIP_BYTES_MAX) throw lineTooLong()
  }

  #taken(): TextLine {
    if (this.#line > LINES_MAX) throw tooMany()
    const text = this.#restBytes > LINE_BYTES_MAX ? null : Buffer.concat(this.#rest).toString('utf8')
    this.#rest = []
    this.#restBytes = 0
    return { line: this.#line++, text }
  }

  /** Lets go by what is still to come: some read no answer before they have sent everything. */
  async leave(): Promise<void> {
    try {
      for (let bytes = 0; bytes < LEAVE_BYTES_MAX && !this.#isEnd; ) {
        const came = await (this.#pending ?? this.#chunks.next())
        this.#pending = null
        if (came.done === true) this.#isEnd = true
        else bytes += came.value.length
      }
    } catch {
      // The sender has gone: nothing is left to come.
    }
  }

  /** The answer is complete. Who sends on has a moment to notice. */
  close(): void {
    if (this.#request.complete) return
    this.#clock.after(LEAVE_MS, () => this.#request.complete || this.#request.destroy())
  }
}

export const lineTooLong = (): RequestError =>
  new RequestError('REPRISE_TOO_LARGE', `A line takes more than ${LINE_BYTES_MAX} bytes.`)

const tooMany = (): RequestError =>
  new RequestError('REPRISE_TOO_LARGE', `At most ${LINES_MAX} lines are taken at once. Send the rest by itself.`)
