// One reader of the journal for everybody in this process who follows it. Each follower holds a cursor of its own and
// asks for the page after it: if the shared reader has just read that page it is handed out, if the cursor is where the reader
// stands they wait together, and else the store is asked for exactly that page. So each follower walks an unbroken chain of
// pages, in the store's order, whatever the others do; there is no moment of joining at which something could be missed.
// Nothing is pushed: who is slow holds up nobody and takes no memory. Cursors are never compared but for being the same.

import { type Clock, type Engine, isRepriseError, type JournalPage, sleep, systemClock } from '@reprise/core'

export interface FeedOptions {
  readonly engine: Pick<Engine, 'journal'>
  readonly clock?: Clock
  /** How often the journal is looked at while somebody waits; 250 ms if not given. */
  readonly pollMs?: number
  /** Entries in one page; 100 if not given. */
  readonly pageEntries?: number
  /** Told of each error that was met and outlived. */
  readonly onError?: (error: unknown) => void
}

/** A page that has at least one entry. */
export interface FeedPage extends JournalPage {
  /** Whether the id of an entry is the cursor behind it: a store with several partitions has only cursors behind pages. */
  readonly idsAreCursors: boolean
}

const POLL_MS = 250
const ERROR_REST_MS_MAX = 5_000
const PAGE_ENTRIES = 100
const PAGES_KEPT_MAX = 50
/** A reader that nobody needed for so long does not catch up: it begins anew at the end. */
const IDLE_MS_MAX = 10_000

export class EventFeed {
  readonly #engine: Pick<Engine, 'journal'>
  readonly #clock: Clock
  readonly #pollMs: number
  readonly #pageEntries: number
  readonly #onError: (error: unknown) => void
  /** What was read lately, by the cursor it begins after. */
  readonly #pages = new Map<string, FeedPage>()
  /** Where the shared reader stands; null before it looked for the first time. */
  #head: string | null = null
  #advancing: Promise<void> | null = null
  #watching: Promise<void> | null = null
  #waiters = 0
  #advancedAt = 0

  constructor(options: FeedOptions) {
    this.#engine = options.engine
    this.#clock = options.clock ?? systemClock
    this.#pollMs = options.pollMs ?? POLL_MS
    this.#pageEntries = options.pageEntries ?? PAGE_ENTRIES
    this.#onError = options.onError ?? (() => undefined)
  }

  /** The cursor behind the newest entry. */
  async tail(): Promise<string> {
    await this.#advance()
    if (this.#head === null) throw new Error('The journal could not be read.')
    return this.#head
  }

  /** Throws `InvalidError` for a cursor that the store does not know. */
  async check(cursor: string): Promise<void> {
    await this.#engine.journal.read({ cursor, limit: 1 })
  }

  /**
   * The page after this cursor, as soon as there is one; null when the signal fires. Outlives trouble with the store, and throws
   * only if the cursor is not one of its own or the engine is closed.
   */
  async next(cursor: string, signal: AbortSignal): Promise<FeedPage | null> {
    let errorsInRow = 0
    while (!signal.aborted) {
      try {
        const page = await this.#step(cursor, signal)
        if (page !== null) return page
        errorsInRow = 0
      } catch (error) {
        if (isRepriseError(error, 'REPRISE_INVALID') || isRepriseError(error, 'REPRISE_STORE_CLOSED')) throw error
        this.#onError(error)
        const restMs = Math.min(this.#pollMs * 2 ** errorsInRow++, ERROR_REST_MS_MAX)
        await sleep(this.#clock, restMs, signal)
      }
    }
    return null
  }

  async #step(cursor: string, signal: AbortSignal): Promise<FeedPage | null> {
    const kept = this.#pages.get(cursor)
    if (kept !== undefined) return kept
    if (cursor === this.#head) {
      await this.#news(signal)
      return this.#pages.get(cursor) ?? null
    }
    const own = await this.#read(cursor)
    if (own.entries.length > 0) return own
    // At the end, but not where the reader stands: it comes here, and from now on both walk together.
    await this.#advance()
    if (this.#head !== cursor && !this.#pages.has(cursor)) await sleep(this.#clock, this.#pollMs, signal)
    return null
  }

  async #read(cursor: string): Promise<FeedPage> {
    const page = await this.#engine.journal.read({ cursor, limit: this.#pageEntries })
    return { ...page, idsAreCursors: page.entries.at(-1)?.id === page.cursor }
  }

  /** Comes back when the reader has moved on, or the signal fires. One poll serves all who wait. */
  async #news(signal: AbortSignal): Promise<void> {
    const gone = Promise.withResolvers<void>()
    const leave = (): void => gone.resolve()
    signal.addEventListener('abort', leave, { once: true })
    this.#waiters++
    try {
      this.#watching ??= this.#watch().finally(() => {
        this.#watching = null
      })
      await Promise.race([this.#watching, gone.promise])
    } finally {
      this.#waiters--
      signal.removeEventListener('abort', leave)
    }
  }

  async #watch(): Promise<void> {
    const before = this.#head
    while (this.#waiters > 0) {
      await this.#advance()
      if (this.#head !== before) return
      await sleep(this.#clock, this.#pollMs)
    }
  }

  /** Brings the reader to the end of the journal. A caller that comes meanwhile waits for the same. */
  #advance(): Promise<void> {
    this.#advancing ??= this.#advanceToEnd().finally(() => {
      this.#advancing = null
    })
    return this.#advancing
  }

  async #advanceToEnd(): Promise<void> {
    const isIdle = this.#waiters === 0 && this.#clock.monotonic() - this.#advancedAt >= IDLE_MS_MAX
    if (this.#head === null || isIdle) this.#head = await this.#engine.journal.from(Number.POSITIVE_INFINITY)
    for (;;) {
      const from = this.#head
      const page = await this.#read(from)
      this.#advancedAt = this.#clock.monotonic()
      if (page.entries.length === 0) return
      this.#pages.set(from, page)
      if (this.#pages.size > PAGES_KEPT_MAX) {
        const [oldest] = this.#pages.keys()
        if (oldest !== undefined) this.#pages.delete(oldest)
      }
      this.#head = page.cursor
      if (page.entries.length < this.#pageEntries) return
    }
  }
}
