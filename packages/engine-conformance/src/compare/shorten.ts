// Cuts a failing sequence down to the commands it needs: the random generator makes single commands small, but never
// leaves some of them out. Greedy, from the end, larger pieces first, with a bound on how often it tries.

const TRIES_MAX = 400

export interface Failing<T> {
  readonly items: readonly T[]
  readonly error: unknown
}

/** `attempt` gives the error of a sequence, or null if it runs through. */
export async function shorten<T>(
  failing: Failing<T>,
  attempt: (items: readonly T[]) => Promise<unknown>,
): Promise<Failing<T>> {
  let best = failing
  let tries = 0
  for (let size = Math.ceil(best.items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = best.items.length; end > 0 && tries < TRIES_MAX; end -= size) {
      const items = best.items.toSpliced(Math.max(end - size, 0), Math.min(size, end))
      tries++
      const error = items.length === 0 ? null : await attempt(items)
      if (error !== null) best = { items, error }
    }
  }
  return best
}
