// What a query names: its metrics, labels and functions. As much of PromQL as our queries use; a query that it can't read has words
// left over, which no metric and no function is called.

export interface QueryNames {
  readonly metrics: readonly string[]
  readonly labels: readonly string[]
  readonly functions: readonly string[]
  readonly isBalanced: boolean
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'

export function namesIn(query: string): QueryNames {
  const labels: string[] = []
  const found = (names: string): void => void labels.push(...names.split(',').map((name) => name.trim()))
  const bare = query
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\{([^}]*)\}/g, (_, matchers: string) => {
      found(matchers.replaceAll(/\s*(?:=~|!~|!=|=)\s*""/g, ''))
      return ''
    })
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, names: string) => {
      found(names)
      return ''
    })
  const functions = [...bare.matchAll(new RegExp(`(${NAME})\\s*\\(`, 'g'))].map(([, name = '']) => name)
  const metrics = [...bare.matchAll(new RegExp(`(?<![\\w.])(${NAME})(?!\\s*\\(|[\\w:])`, 'g'))].map(
    ([, name = '']) => name,
  )
  const depth = (open: string, close: string): number => query.split(open).length - query.split(close).length
  const isBalanced = depth('(', ')') === 0 && depth('{', '}') === 0 && depth('[', ']') === 0
  return { metrics, labels, functions, isBalanced }
}
