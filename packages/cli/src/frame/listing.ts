// What commands that list things have in common: how many, and page by page.

import type { Page, PageRequest } from '@reprise/core'
import type { OptionDefinition } from './definition.ts'
import type { Invocation } from './invocation.ts'

export const LIMIT: OptionDefinition = { flags: '-n, --limit <count>', about: 'At most so many; 100 if not given' }

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 100_000
const PAGE_MAX = 1_000

/** As many as were asked for, and whether there are more. */
export async function listed<T>(
  invocation: Invocation,
  read: (page: PageRequest) => Promise<Page<T>>,
): Promise<{ readonly items: readonly T[]; readonly more: boolean }> {
  const limit = invocation.options.whole('limit', 1, LIMIT_MAX) ?? LIMIT_DEFAULT
  const items: T[] = []
  let cursor: string | null = null
  do {
    const size = { limit: Math.min(limit - items.length, PAGE_MAX) }
    const page: Page<T> = await read(cursor === null ? size : { ...size, cursor })
    items.push(...page.items)
    cursor = page.next
  } while (cursor !== null && items.length < limit)
  if (cursor !== null) invocation.output.note(`There are more; -n shows up to ${LIMIT_MAX}.`)
  return { items, more: cursor !== null }
}
