// Everything of a list that comes in pages, up to a bound: for commands that look through all of it rather than show it.

import { PAGE_LIMIT_MAX, type Page, type PageRequest } from '@reprise/core'

const PAGES_MAX = 20

export async function allPages<T>(read: (page: PageRequest) => Promise<Page<T>>): Promise<readonly T[]> {
  const items: T[] = []
  let cursor: string | null = null
  for (let count = 0; count < PAGES_MAX; count++) {
    const page: Page<T> = await read({ limit: PAGE_LIMIT_MAX, ...(cursor === null ? {} : { cursor }) })
    items.push(...page.items)
    cursor = page.next
    if (cursor === null) break
  }
  return items
}
