// What somebody may have meant who misspelt a word. For messages only: nothing is ever taken for something else by itself.

import { newNameOf } from './renamed.ts'

/** The known word that is nearest; null if none is near enough. */
export function nearest(name: string, known: readonly string[]): string | null {
  const wanted = name.slice(0, 60).toLowerCase()
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Insertions, deletions, replacements, and neighbours that changed places. */
function editDistance(one: string, other: string): number {
  let before: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1
      const swapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + cost,
          swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    before = last
    last = current
  }
  return last[other.length] ?? 0
}

/** ' It is called …' for an old name, ' Did you mean …?' for the word that is nearest; empty if none is near. */
export function nearMiss(word: string, known: readonly string[]): string {
  const renamed = newNameOf(word, known)
  if (renamed !== '') return renamed
  const near = nearest(word, known)
  return near === null ? '' : ` Did you mean '${near}'?`
}
