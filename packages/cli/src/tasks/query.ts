// Queries as they are typed in a shell.

const HEAD = /^(-?\w+(?:\.[^\s:=<>!",]+)?(?:!=|<=|>=|:|=|<|>))(.*)$/s

/**
 * The words of a query, together again. The shell took the quotes away: a word with a space in it, beside others, was quoted
 * there, and is quoted again. One word alone is the whole query.
 */
export function queryOf(words: readonly string[]): string {
  if (words.length <= 1) return words[0] ?? ''
  return words.map((word) => (/\s/.test(word) && !word.includes('"') ? quotedAgain(word) : word)).join(' ')
}

function quotedAgain(word: string): string {
  const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\')}"`
  const [, head, rest = ''] = HEAD.exec(word) ?? []
  return head === undefined ? quoted(word) : `${head}${quoted(rest)}`
}

/** A term that holds for this value alone. */
export const termOf = (field: string, value: string): string => `${field}:"${value.replaceAll(/["\\]/g, '\\$&')}"`
