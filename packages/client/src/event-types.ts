// Which events somebody wants to see: types such as `execution.failed`, or families such as `task.*`. The names may carry the
// prefix that they have as CloudEvents.

const PREFIX = 'reprise.'

/** None given means all. */
export function typeFilter(patterns: readonly string[]): (type: string) => boolean {
  if (patterns.length === 0) return () => true
  const exact = new Set<string>()
  const families: string[] = []
  for (const pattern of patterns.map(bareType)) {
    if (pattern.endsWith('*')) families.push(pattern.slice(0, -1))
    else exact.add(pattern)
  }
  return (type) => exact.has(type) || families.some((family) => type.startsWith(family))
}

export const bareType = (type: string): string => (type.startsWith(PREFIX) ? type.slice(PREFIX.length) : type)
