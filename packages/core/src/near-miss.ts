// What somebody may have meant who misspelt a word: one of the known words that is a letter or two away. For messages, never to
// guess and go on.

const NEAR = 2

/** ' Did you mean …?' for the one of the known words that somebody may have meant; empty if none is near. */
export function nearMiss(word: string, known: readonly string[]): string {
  const near = known
    .map((one) => ({ one, distance: distance(word.slice(0, 30).toLowerCase(), one.toLowerCase()) }))
    .filter(({ one, distance: far }) => far <= NEAR && far < one.length - 1)
    .sort((a, b) => a.distance - b.distance)[0]
  return near === undefined ? '' : ` Did you mean '${near.one}'?`
}

/** How many letters were left out, added or changed between the two. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [line, letter] of Array.from(from).entries()) {
    const next = [line + 1]
    for (let index = 0; index < to.length; index++) {
      const changed = (row[index] ?? 0) + (letter === to[index] ? 0 : 1)
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
