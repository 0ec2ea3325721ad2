// A paged list as a whole, up to a bound: no loop is endless.

import { PAGE_LIMIT_MAX, type Page, type PageRequest } from './queries.ts'

export interface Gathered<T> {
  readonly items: readonly T[]
  /** False if there are more than were asked for. */
  readonly isComplete: boolean
}

/** The items of all pages, up to about `maxItems`. */
export async function allPages<T>(
  read: (page: PageRequest) => Promise<Page<T>>,
  maxItems: number,
): Promise<Gathered<T>> {
  const items: T[] = []
  let cursor: string | undefined
  // A page may be short, or even empty, though more follow.
  for (let asked = 0; asked < maxItems; asked += PAGE_LIMIT_MAX) {
    const page: Page<T> = await read({ limit: PAGE_LIMIT_MAX, ...(cursor === undefined ? {} : { cursor }) })
    for (const item of page.items) items.push(item)
    if (page.next === null) return { items, isComplete: true }
    cursor = page.next
  }
  return { items, isComplete: false }
}
