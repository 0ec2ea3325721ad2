// What a query that can be read may not have been meant to say: quotes around a term make it a text, and such a text is found
// nowhere. A mistake is refused in query-syntax.ts; what is here is answered beside what was found.

import { fieldNamed, type QueryCondition, type TaskFilter } from './query-language.ts'

const WARNINGS_MAX = 5
/** A term inside of a text: maybe negated, a field, and something that it must be. */
const TERM = /(?:^|\s)((?:-|not\s+)?([A-Za-z][A-Za-z_]*)(?:\.[^\s:=<>!",]+)?(?::|<=?|>=?)[^\s"]+)/gi

/** A sentence for each term that stands in quotes, and so is searched for as a text. */
export function queryWarnings({ terms }: TaskFilter): readonly string[] {
  const warnings = terms.flatMap(({ condition }) =>
    textsOf(condition).flatMap((text) => {
      const term = termIn(text)
      if (term === null) return []
      return `'${cut(text)}' is searched for as it stands, because it is in quotes. If '${cut(term)}' is a term of the query, write it without quotes.`
    }),
  )
  return [...new Set(warnings)].slice(0, WARNINGS_MAX)
}

function textsOf(condition: QueryCondition): readonly string[] {
  switch (condition.kind) {
    case 'text':
      return [condition.text]
    case 'name':
      return condition.globs
    case 'label':
      return condition.labels.map(({ glob }) => glob)
    default:
      return []
  }
}

/** The first thing in it that would be a term if it stood alone; null if nothing would. */
function termIn(text: string): string | null {
  for (const [, term = '', field = ''] of text.matchAll(TERM)) if (fieldNamed(field) !== undefined) return term
  return null
}

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
