// Queries as they are typed in a shell, and everything that one finds, page by page.

import type { Client, Task } from '@reprise/client'

const PAGE = 500

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

export async function* allFound(client: Client, query: string, from: string | null = null): AsyncGenerator<Task> {
  let cursor = from
  do {
    const page: Awaited<ReturnType<Client['search']>> = await client.search(query, {
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    })
    yield* page.items
    cursor = page.next
  } while (cursor !== null)
}
