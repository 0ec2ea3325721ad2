// Lists, page by page, shown once or followed with --watch: on a terminal the table is drawn again and again, anywhere else
// every row that is new or has changed is one line of JSON.

import { isRepriseError, PAGE_LIMIT_MAX, sleep } from '@reprise/core'
import type { Progress } from '../output/progress.ts'
import type { Column } from '../output/table.ts'
import type { Invocation } from './invocation.ts'

const LIMIT_DEFAULT = 100
export const LIMIT_MAX = 100_000
/** For commands that look through all of a list rather than show it. */
const LOOKED_AT_MAX = 20_000
const BEAT_MS = 2_000
const CLEAR = '\u001b[H\u001b[2J'

interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

/** An operation that lists, with everything but the page filled in. */
export type Read<Item> = (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Item>>

interface Part {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly progress?: Progress
}

/** A page may be short, or empty, though more follow. */
export async function* pagesOf<Item>(read: Read<Item>, { limit, cursor, progress }: Part): AsyncGenerator<Page<Item>> {
  let next = cursor ?? null
  let count = 0
  do {
    const size = { limit: Math.min(limit - count, PAGE_LIMIT_MAX) }
    const page: Page<Item> = await read(next === null ? size : { ...size, cursor: next })
    yield page
    count += page.items.length
    progress?.update(count, null)
    next = page.next
  } while (next !== null && count < limit)
}

/** From when on an orchestrator that was not heard of is not there. Each looks every few seconds. */
const UNWATCHED_MS = 60_000

/** Of a list that orchestrators fill: says so, once, if none is there. */
export function watching<Item>(
  { output }: Pick<Invocation, 'output'>,
  read: (page: Parameters<Read<Item>>[0]) => Promise<Page<Item> & { readonly watchedAt?: number | null }>,
): Read<Item> {
  let isTold = false
  return async (page) => {
    const found = await read(page)
    // A server of before does not say.
    const { watchedAt = output.now() } = found
    if (!isTold && output.now() - (watchedAt ?? 0) > UNWATCHED_MS) {
      isTold = true
      output.warn("No orchestrator watches this store. Start one: 'reprise orchestrator', or 'reprise up'.")
    }
    return found
  }
}

/** At most this number, and where the list goes on. */
export async function listed<Item>(read: Read<Item>, part: Part): Promise<Page<Item>> {
  const items: Item[] = []
  let next: string | null = null
  try {
    for await (const page of pagesOf(read, part)) {
      items.push(...page.items)
      next = page.next
    }
  } finally {
    part.progress?.end()
  }
  return { items, next }
}

export const lookedThrough = async <Item>(read: Read<Item>): Promise<readonly Item[]> =>
  (await listed(read, { limit: LOOKED_AT_MAX })).items

/** Null if the caller may not see this, or if it is switched off. */
export async function unlessRefused<T>(part: Promise<T>): Promise<T | null> {
  try {
    return await part
  } catch (error) {
    if (isRepriseError(error, 'REPRISE_FORBIDDEN') || isRepriseError(error, 'REPRISE_FEATURE_OFF')) return null
    throw error
  }
}

export interface Rows<Row> {
  readonly read: () => Promise<readonly Row[]>
  /** What makes it the same row the next time. */
  readonly key: (row: Row) => string
  readonly columns: (now: number) => readonly Column<Row>[]
  /** Said if there are none. */
  readonly none: string
  /** What there is to say below them. */
  readonly after?: () => void
}

interface List<Row> extends Omit<Rows<Row>, 'read'> {
  readonly read: Read<Row>
  /** As they come if missing. */
  readonly order?: (one: Row, other: Row) => number
}

/** As many as --limit says. */
export async function showList<Row>(invocation: Invocation, { read, order, ...rows }: List<Row>): Promise<undefined> {
  const limit = invocation.options.whole('limit', 1, LIMIT_MAX) ?? LIMIT_DEFAULT
  let hasMore = false
  return showRows(invocation, {
    ...rows,
    read: async () => {
      const { items, next } = await listed(read, { limit })
      hasMore = next !== null
      return order === undefined ? items : items.toSorted(order)
    },
    after: () => {
      if (hasMore) invocation.output.note(`There are more; -n shows up to ${LIMIT_MAX}.`)
    },
  })
}

export async function showRows<Row>(
  invocation: Invocation,
  { read, key, columns, none, after }: Rows<Row>,
): Promise<undefined> {
  const { output } = invocation
  const draw = async (): Promise<undefined> => {
    output.list(await read(), columns(output.now()), none)
    after?.()
  }
  if (!invocation.options.flag('watch')) return draw()
  return follow(invocation, { draw, read: async () => (await read()).map((row) => [key(row), row] as const) })
}

export interface Followed {
  /** On a terminal. */
  readonly draw: () => Promise<unknown>
  /** Anywhere else: what there is, each with what makes it the same the next time. */
  readonly read: () => Promise<readonly (readonly [key: string, value: unknown])[]>
}

/** Until somebody asks the command to end. */
export async function follow({ host, output }: Invocation, { draw, read }: Followed): Promise<undefined> {
  const isScreen = output.isForPeople && host.stdout.isTTY === true
  let before = new Map<string, string>()
  while (!host.asked.aborted) {
    if (isScreen) {
      output.raw(CLEAR)
      await draw()
    } else {
      const now = new Map((await read()).map(([key, value]) => [key, JSON.stringify(value)]))
      for (const [key, text] of now) if (before.get(key) !== text) output.json(text)
      before = now
    }
    await sleep(host.clock, BEAT_MS, host.asked, { hold: true })
  }
}
