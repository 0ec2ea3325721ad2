// The registry of workers as a dispatcher with an old picture sees it: a cache, a replica that lags, or just the moment between
// the look and the hand-over. The store itself always knows better, and refuses a pick that is stale.

import type { Engine, WorkerView } from '@reprise/core'

export interface LaggingRegistry {
  /** The engine for the dispatcher. */
  readonly engine: Engine
  /** From now on the dispatcher sees these workers as if they had just been heard of, for so many looks. */
  show(workers: readonly WorkerView[], looks: number): void
  /** Called when the dispatcher has looked that often. */
  onLooks(count: number, act: () => Promise<void>): void
}

export function laggingRegistry(engine: Engine): LaggingRegistry {
  let shown: readonly WorkerView[] = []
  let shownAt: number | null = null
  let looksLeft = 0
  let looks = 0
  let wanted: { readonly count: number; readonly act: () => Promise<void> } | null = null
  return {
    engine: {
      ...engine,
      async workers(page) {
        looks++
        if (wanted?.count === looks) await wanted.act()
        if (looksLeft <= 0) return engine.workers(page)
        looksLeft--
        shownAt ??= await engine.now()
        const lastBeatAt = shownAt
        return { items: shown.map((view) => ({ ...view, lastBeatAt })), next: null }
      },
    },
    show(workers, count) {
      shown = workers
      shownAt = null
      looksLeft = count
      looks = 0
    },
    onLooks(count, act) {
      wanted = { count, act }
    },
  }
}
