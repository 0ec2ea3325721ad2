// Remembers what it was told for a short while, and only so much of it: the oldest goes first. For answers that may be used
// again, and for counts that nobody needs for ever.

import type { Clock } from '@reprise/core'

export interface RecentOptions {
  readonly clock: Clock
  readonly keepMs: number
  readonly maxEntries: number
}

export class Recent<T> {
  readonly #options: RecentOptions
  readonly #entries = new Map<string, { readonly value: T; readonly until: number }>()

  constructor(options: RecentOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#options.clock.monotonic() < entry.until) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: T): void {
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: this.#options.clock.monotonic() + this.#options.keepMs })
    if (this.#entries.size <= this.#options.maxEntries) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
