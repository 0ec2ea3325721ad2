// Pages bounded by their length as well as by their number: tasks and attempts carry payloads, and a thousand of those are
// more than a server can put into one text while others wait. A page ends early, with `next`, where it would be too long.

import { type Clock, type Page, turnsOf } from '@reprise/core'

/** In characters of JSON. An item that is longer by itself is a page by itself. */
const PAGE_LENGTH_MAX = 1_000_000
/** How many are asked for at first; later as many as may fit, going by those before. */
const FIRST_STEP = 50
const STEP_MAX = 250

export interface PageSource<T, P extends Page<T> = Page<T>> {
  readonly limit: number
  readonly cursor: string | undefined
  /** What an item is likely to take, if something is known about it. */
  readonly lengthGuess?: number
  /** At most this number from this place on. */
  readonly read: (limit: number, cursor: string | undefined) => Promise<P>
  readonly textOf: (item: T) => string | Promise<string>
  readonly clock: Clock
}

export interface PageText {
  /** A JSON list. */
  readonly items: string
  readonly next: string | null
}

export async function boundedPage<T>(source: PageSource<T>): Promise<PageText> {
  const { limit, read, lengthGuess = PAGE_LENGTH_MAX / FIRST_STEP } = source
  const texts: string[] = []
  let length = 0
  let cursor = source.cursor
  let step = stepFor(lengthGuess, PAGE_LENGTH_MAX, FIRST_STEP)
  for (;;) {
    const asked = Math.min(step, limit - texts.length)
    const page = await read(asked, cursor)
    const written = await textsOf(source, page.items, PAGE_LENGTH_MAX - length)
    if (written.texts.length < page.items.length) {
      // A cursor stands after whole answers of the store: this one is asked for again, for as many as fit.
      if (texts.length > 0 && written.texts.length === 0) return pageText(texts, cursor ?? null)
      step = Math.max(written.texts.length, 1)
      continue
    }
    texts.push(...written.texts)
    length += written.length
    const isShort = page.items.length < asked
    if (page.next === null || isShort || texts.length >= limit || length >= PAGE_LENGTH_MAX) {
      return pageText(texts, page.next)
    }
    cursor = page.next
    step = stepFor(length / texts.length, PAGE_LENGTH_MAX - length, STEP_MAX)
  }
}

const stepFor = (itemLength: number, room: number, max: number): number =>
  Math.min(Math.max(Math.floor(room / Math.max(itemLength, 1)), 1), max)

const pageText = (texts: readonly string[], next: string | null): PageText => ({ items: `[${texts.join()}]`, next })

/** As many as there is room for. One alone is always written: a page that leaves it out would never come past it. */
async function textsOf<T>(
  { textOf, clock }: PageSource<T>,
  items: readonly T[],
  room: number,
): Promise<{ readonly texts: readonly string[]; readonly length: number }> {
  const turns = turnsOf(clock)
  const texts: string[] = []
  let length = 0
  for (const item of items) {
    if (turns.isSpent) await turns.wait()
    const written = textOf(item)
    const text = typeof written === 'string' ? written : await written
    if (length + text.length > room && items.length > 1) break
    texts.push(text)
    length += text.length
  }
  return { texts, length }
}
