// Pages of what a caller may see, made of pages of everything. What they may not see leaves no trace: no gap, no short page, and
// no cursor that leads to nothing.

import { PAGE_LIMIT_DEFAULT, type Page, type PageRequest, systemClock, type Turns, turnsOf } from '@reprise/core'

/** How many are read at once. */
const STEP = 100

export async function visiblePage<T>(
  request: PageRequest,
  read: (page: PageRequest) => Promise<Page<T>>,
  isVisible: (item: T) => Promise<boolean> | boolean,
  turns: Pick<Turns, 'isSpent' | 'wait'> = turnsOf(systemClock),
): Promise<Page<T>> {
  const { limit = PAGE_LIMIT_DEFAULT } = request
  const items: T[] = []
  let { cursor } = request
  for (;;) {
    // There may be many that this caller does not see.
    if (turns.isSpent) await turns.wait()
    const from = cursor === undefined ? {} : { cursor }
    const page = await read({ ...from, limit: STEP })
    const visible: number[] = []
    for (const [at, item] of page.items.entries()) if (await isVisible(item)) visible.push(at)
    const room = limit - items.length
    if (visible.length > room) {
      // It ends within this page, and a cursor stands after whole pages only: it is read again up to there.
      if (room === 0) return { items, next: cursor ?? null }
      const last = visible[room - 1] ?? 0
      const { next } = await read({ ...from, limit: last + 1 })
      return { items: [...items, ...pick(page.items, visible.slice(0, room))], next }
    }
    items.push(...pick(page.items, visible))
    if (page.next === null) return { items, next: null }
    cursor = page.next
  }
}

const pick = <T>(items: readonly T[], places: readonly number[]): T[] =>
  places.flatMap((at) => {
    const item = items[at]
    return item === undefined ? [] : [item]
  })
