// Which of two versions of a worker is the newer one. Versions are what people call their builds: `2.10.1`, `v3`, `2026-11-17`,
// `build-481`. Numbers in them are compared as numbers, everything else as text. Not semver: a suffix comes after the bare version.

const PARTS_MAX = 50

const partsOf = (version: string): readonly string[] =>
  version
    .replace(/^v(?=\d)/i, '')
    .match(/\d+|[^\d.\-_+\s]+/g)
    ?.slice(0, PARTS_MAX) ?? []

const isNumber = (part: string): boolean => /^\d/.test(part)

/** Below 0 if the first is the older one, 0 if they are the same. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [partsOf(one), partsOf(other)]
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = compareParts(left[at], right[at])
    if (difference !== 0) return difference
  }
  return 0
}

function compareParts(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1
  if (isNumber(one) !== isNumber(other)) return isNumber(one) ? 1 : -1
  if (!isNumber(one)) return one < other ? -1 : one > other ? 1 : 0
  const [a, b] = [one.replace(/^0+/, ''), other.replace(/^0+/, '')]
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}
