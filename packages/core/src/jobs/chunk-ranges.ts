// A set of chunks by their places in the job, as one short text: '0-4 9 12-1000'. Chunks end nearly in the order in which they
// were handed in, so that what is open is a few ranges and some stragglers. In memory it is a sorted list of numbers.

/** `places` go up, without doubles. */
export function rangesOf(places: readonly number[]): string {
  const ranges: string[] = []
  let at = 0
  while (at < places.length) {
    const first = places[at] ?? 0
    let last = first
    while (places[at + 1] === last + 1) {
      last++
      at++
    }
    at++
    ranges.push(first === last ? String(first) : `${first}-${last}`)
  }
  return ranges.join(' ')
}

export function placesIn(ranges: string): number[] {
  if (ranges === '') return []
  const places: number[] = []
  for (const range of ranges.split(' ')) {
    const [first = '', last = first] = range.split('-')
    for (let place = Number(first); place <= Number(last); place++) places.push(place)
  }
  return places
}

/** How many there are, without listing them. */
export function countIn(ranges: string): number {
  if (ranges === '') return 0
  let count = 0
  for (const range of ranges.split(' ')) {
    const [first = '', last = first] = range.split('-')
    count += Number(last) - Number(first) + 1
  }
  return count
}

/** Both sorted; what is in both stands once. */
export function mergedPlaces(some: readonly number[], others: readonly number[]): number[] {
  if (others.length === 0) return [...some]
  if (some.length === 0 || (some.at(-1) ?? 0) < (others[0] ?? 0)) return [...some, ...others]
  return [...new Set([...some, ...others])].toSorted((a, b) => a - b)
}
