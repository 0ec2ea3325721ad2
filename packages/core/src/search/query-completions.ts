// What could come next in a line of the query language, for consoles and shells. Knows the text alone and no store: names of
// actions and tenants come from the caller.

import { fieldNamed, QUERY_FIELDS, QUERY_REASONS, QUERY_STATUSES, type QueryField } from './query-language.ts'

const FIELDS = Object.keys(QUERY_FIELDS) as QueryField[]

export interface Completions {
  /** Where in the text what is to be replaced begins. */
  readonly from: number
  readonly options: readonly { readonly text: string; readonly hint: string }[]
}

/** What the word before the cursor could become: fields, and values where they are known. */
export function completions(before: string): Completions {
  const word = /[^\s"]*$/.exec(before)?.[0] ?? ''
  const from = before.length - word.length
  // Inside of quotes nobody can tell.
  if (before.slice(0, from).replace(/\\./g, '').split('"').length % 2 === 0) return { from: before.length, options: [] }
  const minus = word.startsWith('-') ? 1 : 0
  const [, name = '', list] = /^-?([a-z_]*)(?:[:=](.*))?$/is.exec(word) ?? []
  if (list === undefined) {
    return { from: from + minus, options: word.length - minus === name.length ? fieldsLike(name) : [] }
  }
  const field = fieldNamed(name)
  const known = field === 'status' ? QUERY_STATUSES : field === 'reason' ? QUERY_REASONS : []
  const value = list.slice(list.lastIndexOf(',') + 1)
  return {
    from: before.length - value.length,
    options: known.filter((one) => one.startsWith(value.toLowerCase())).map((text) => ({ text, hint: '' })),
  }
}

function fieldsLike(start: string): Completions['options'] {
  return FIELDS.filter((field) => field.toLowerCase().startsWith(start.toLowerCase())).map((field) => {
    const { kind, hint: words } = QUERY_FIELDS[field]
    return { text: `${field}${kind === 'time' || kind === 'number' ? '>' : ':'}`, hint: words }
  })
}
