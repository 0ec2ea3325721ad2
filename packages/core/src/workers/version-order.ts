// Which of two versions of workers is the newer one. Applications name versions as they like: numbers count as numbers, a
// release comes after its own pre-releases, and everything else goes by the alphabet.

const PART = /\d+|[a-z]+/gi

/** Below 0 if `one` is older than `other`, above 0 if it is newer, 0 if nothing tells them apart. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)]
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const order = compareParts(a[at], b[at])
    if (order !== 0) return order
  }
  return 0
}

/** Without a leading `v`, and without what follows a plus sign: that tells builds of one version apart. */
const partsOf = (version: string): readonly string[] =>
  version
    .replace(/^v(?=\d)/i, '')
    .replace(/\+.*$/s, '')
    .match(PART) ?? []

function compareParts(one: string | undefined, other: string | undefined): number {
  if (one === other) return 0
  // 1.2 is older than 1.2.1, and newer than 1.2-rc1.
  if (one === undefined) return isNumber(other) ? -1 : 1
  if (other === undefined) return isNumber(one) ? 1 : -1
  if (isNumber(one) && isNumber(other)) return Number(one) - Number(other)
  if (isNumber(one) !== isNumber(other)) return isNumber(one) ? 1 : -1
  return one.toLowerCase() < other.toLowerCase() ? -1 : 1
}

const isNumber = (part: string | undefined): boolean => part !== undefined && /^\d/.test(part)
