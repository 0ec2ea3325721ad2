// The live stream: the journal as server-sent events, resumable by cursor. `id:` is the cursor to come back with; a client that
// was away gets everything since. One page at a time is on its way to a client, so a slow one takes no memory; one that
// takes nothing at all for too long is cut off, and comes back where it was.

import type { ServerResponse } from 'node:http'
import {
  type Clock,
  type JournalEntry,
  RequestError,
  sleep,
  systemClock,
  type TaskId,
  turnsOf,
  typeFilter,
} from '@reprise/core'
import {
  type EntryTenants,
  type EventFeed,
  type FeedPage,
  type MakeEvent,
  type PlaceBounds,
  Places,
  type Taker,
} from '@reprise/operations'
import type { FastifyReply } from 'fastify'

export interface LiveStreamsOptions {
  readonly feed: EventFeed
  readonly makeEvent: MakeEvent
  readonly tenants: EntryTenants
  /** The flag audit-streaming; on if not given. */
  readonly isOn?: () => boolean
  readonly clock?: Clock
  readonly heartbeatMs?: number
  /** How long a client may take nothing before it is cut off. */
  readonly stallMs?: number
  readonly places?: PlaceBounds
  readonly onError?: (error: unknown) => void
}

export interface StreamRequest {
  /** Who it is for: streams are counted by it. Its tenants are those whose events may be seen; null for all. */
  readonly caller: Taker
  /** Where to go on: the header Last-Event-ID, or the parameter `cursor`. From now on if null. */
  readonly cursor: string | null
  /** Types, or families such as `reprise.execution.*`; all if empty. */
  readonly types: readonly string[]
  /** Only entries about one of these. */
  readonly taskIds: readonly TaskId[] | null
  /**
   * Asked again while the stream lasts, at least once a second if there is something to send. True if not given; null if it
   * can't be told now, so that the last answer counts for a while.
   */
  readonly mayStay?: () => Promise<boolean | null> | boolean | null
  /** Fires when the client has gone, or the server stops. */
  readonly signal: AbortSignal
}

/** Why a stream ended, as its last event says. */
type End = 'server_stopping' | 'feature_off' | 'not_allowed' | 'store_trouble'

const HEARTBEAT_MS = 15_000
const STALL_MS = 30_000
const RECHECK_MS = 1_000
/** How long nobody may know whether a caller may stay. */
const UNCHECKED_MS_MAX = 60_000
const RETRY_MS = 2_000
const STREAMS: PlaceBounds = { all: 500, perCaller: 10, perTenant: 50, kept: 100 }

export class LiveStreams {
  readonly #options: Required<Omit<LiveStreamsOptions, 'onError' | 'places'>> & Pick<LiveStreamsOptions, 'onError'>
  readonly #open = new Set<Promise<void>>()
  readonly #places: Places
  #stop = new AbortController()

  constructor({ places = STREAMS, ...options }: LiveStreamsOptions) {
    this.#places = new Places('streams', places)
    this.#options = {
      isOn: () => true,
      clock: systemClock,
      heartbeatMs: HEARTBEAT_MS,
      stallMs: STALL_MS,
      ...options,
    }
  }

  /** How many are open now. */
  get size(): number {
    return this.#open.size
  }

  /** Throws before anything is sent if it can't be opened. Comes back when the stream runs; it ends by itself. */
  async open(reply: FastifyReply, request: StreamRequest): Promise<void> {
    const leave = this.#enter(request.caller)
    let cursor: string
    try {
      cursor = request.cursor ?? (await this.#options.feed.tail())
      if (request.cursor !== null) await this.#options.feed.check(cursor)
    } catch (error) {
      leave()
      throw error
    }
    // What was set so far (request id, security headers) goes along: Fastify does not send it for a reply that it gave away.
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value)
    reply.hijack()
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    const ended = this.#run(new Pipe(reply.raw, this.#options), cursor, request)
      .catch((error: unknown) => {
        this.#options.onError?.(error)
        reply.raw.destroy()
      })
      .finally(() => {
        this.#open.delete(ended)
        leave()
      })
    this.#open.add(ended)
  }

  /** Ends all streams, each with a last event. A server that is started anew can open others. */
  async close(): Promise<void> {
    const stopping = this.#stop
    this.#stop = new AbortController()
    stopping.abort()
    await Promise.all(this.#open)
  }

  #enter(caller: Taker): () => void {
    if (!this.#options.isOn()) {
      throw new RequestError('REPRISE_FEATURE_OFF', 'Live events are switched off by the flag audit-streaming.')
    }
    return this.#places.enter(caller)
  }

  async #run(pipe: Pipe, start: string, request: StreamRequest): Promise<void> {
    const { clock, feed, heartbeatMs } = this.#options
    const over = AbortSignal.any([this.#stop.signal, request.signal, pipe.gone])
    const stay = this.#stayCheck(request)
    let cursor = start
    // The position goes first: who is cut off before the first event comes back to where this stream began.
    await pipe.write(`retry: ${RETRY_MS}\nid: ${cursor}\n\n`)
    let pending: Promise<FeedPage | null | 'trouble'> | null = null
    while (!over.aborted) {
      pending ??= feed.next(cursor, over).catch((error: unknown) => {
        this.#options.onError?.(error)
        return 'trouble' as const
      })
      const beat = new AbortController()
      const page = await Promise.race([
        pending,
        sleep(clock, heartbeatMs, AbortSignal.any([over, beat.signal])).then(() => 'quiet' as const),
      ])
      beat.abort()
      if (over.aborted) break
      const end = await stay()
      if (end !== null) return pipe.end(end)
      if (page === 'quiet') {
        await pipe.write(': heartbeat\n\n')
        continue
      }
      pending = null
      if (page === 'trouble') return pipe.end('store_trouble')
      if (page === null) break
      await this.#send(pipe, page, request)
      cursor = page.cursor
    }
    pipe.end('server_stopping')
  }

  async #send(pipe: Pipe, page: FeedPage, request: StreamRequest): Promise<void> {
    const isWanted = typeFilter(request.types)
    const turns = turnsOf(this.#options.clock)
    let said = ''
    for (const entry of page.entries) {
      if (turns.isSpent) await turns.wait()
      if (request.taskIds?.some((id) => id === entry.taskId) === false) continue
      if (!isWanted(`reprise.${entry.type}`)) continue
      if (!(await this.#options.tenants.maySee(entry, request.caller.tenants))) continue
      said = page.idsAreCursors ? entry.id : ''
      await pipe.write(this.#block(entry, said, request.caller.tenants))
    }
    // Where the page ends, for a client that was shown nothing of it, or whose store has no cursor within pages.
    if (said !== page.cursor) await pipe.write(`id: ${page.cursor}\n\n`)
  }

  #block(entry: JournalEntry, id: string, tenants: Taker['tenants']): string {
    const event = this.#options.makeEvent(entry, tenants)
    return `${id === '' ? '' : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  }

  /** Null while the caller may stay. Asked often, answered afresh once a second. */
  #stayCheck({ mayStay }: StreamRequest): () => Promise<End | null> {
    const { clock, isOn } = this.#options
    let askedAt = clock.monotonic()
    let toldAt = askedAt
    return async () => {
      if (!isOn()) return 'feature_off'
      if (mayStay === undefined || clock.monotonic() - askedAt < RECHECK_MS) return null
      askedAt = clock.monotonic()
      const answer = await mayStay()
      if (answer === null) return askedAt - toldAt < UNCHECKED_MS_MAX ? null : 'store_trouble'
      toldAt = askedAt
      return answer ? null : 'not_allowed'
    }
  }
}

/** One response, written no faster than it is taken. */
class Pipe {
  readonly gone: AbortSignal
  readonly #raw: ServerResponse
  readonly #clock: Clock
  readonly #stallMs: number

  constructor(raw: ServerResponse, { clock, stallMs }: { readonly clock: Clock; readonly stallMs: number }) {
    this.#raw = raw
    this.#clock = clock
    this.#stallMs = stallMs
    const gone = new AbortController()
    this.gone = gone.signal
    raw.once('close', () => gone.abort())
    raw.once('error', () => gone.abort())
    if (raw.destroyed) gone.abort()
  }

  async write(text: string): Promise<void> {
    if (this.gone.aborted) return
    if (this.#raw.write(text)) return
    const drained = new AbortController()
    const done = (): void => drained.abort()
    this.#raw.once('drain', done)
    await sleep(this.#clock, this.#stallMs, AbortSignal.any([drained.signal, this.gone]))
    this.#raw.off('drain', done)
    // It takes nothing: nothing more could be said to it either.
    if (!drained.signal.aborted) this.#raw.destroy()
  }

  end(because: End): void {
    if (this.gone.aborted) return
    const data = JSON.stringify({ because, words: WORDS[because] })
    this.#raw.end(`retry: ${RETRY_MS}\nevent: reprise.stream.end\ndata: ${data}\n\n`)
  }
}

const WORDS: Readonly<Record<End, string>> = {
  server_stopping: 'The server stops. Connect again with the last id: nothing is missed.',
  feature_off: 'Live events were switched off by the flag audit-streaming.',
  not_allowed: 'You may not see these events any more.',
  store_trouble: 'The store can not be read. Connect again with the last id: nothing is missed.',
}
