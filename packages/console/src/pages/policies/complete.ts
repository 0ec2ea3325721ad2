// What could come next in a file of policies, at the end of a text: the fields of the map that the cursor is in, or the values
// of the field before it. It reads indentation and braces, not all of YAML; where it can't tell it offers nothing.

import { ANY, type Field, type Fields, POLICY_FILE } from './vocabulary.ts'

interface Found {
  readonly from: number
  readonly options: readonly { readonly text: string; readonly hint: string }[]
}

/** A list item's mark counts as indentation. */
const unmarked = (line: string): string => line.replace(/^( *)- /, '$1  ')
const indentOf = (line: string): number => line.length - line.trimStart().length

export function completePolicy(before: string): Found | null {
  const lines = before.split('\n')
  const last = lines.at(-1) ?? ''
  if (last.includes('#')) return null
  const line = unmarked(last)
  const { outer, part } = inBraces(line)
  const value = /^\s*([\w-]+):\s+(?:\[[^\]]*?)?(\w*)$/.exec(part)
  const name = /^\s*(\w*)$/.exec(part)
  const [, key = '', typed = ''] = value ?? [null, '', name?.[1] ?? '']
  if (value === null && name === null) return null
  const map = fieldsAt([...parentsOf(lines.slice(0, -1), indentOf(line)), ...outer])
  if (map === null) return null
  const from = before.length - typed.length
  const options =
    value === null
      ? Object.entries(map)
          .filter(([field]) => field !== ANY)
          .map(([field, { hint }]) => ({ text: `${field}: `, hint }))
      : (map[key]?.values ?? []).map((text) => ({ text, hint: '' }))
  return { from, options: options.filter(({ text }) => text.startsWith(typed)) }
}

/** The fields whose braces are open at the end of the line, and what stands in the innermost of them. */
function inBraces(line: string): { readonly outer: readonly string[]; readonly part: string } {
  const outer: string[] = []
  let part = ''
  for (const letter of line) {
    if (letter === '{') {
      outer.push(/([\w-]+):\s*$/.exec(part)?.[1] ?? '')
      part = ''
    } else if (letter === '}') {
      outer.pop()
      part = ''
    } else if (letter === ',' && outer.length > 0 && !/\[[^\]]*$/.test(part)) part = ''
    else part += letter
  }
  return { outer, part }
}

/** The fields that the line is inside of, by indentation. */
function parentsOf(lines: readonly string[], indent: number): readonly string[] {
  const parents: string[] = []
  let inside = indent
  for (const raw of lines.toReversed()) {
    const line = unmarked(raw)
    const [, field] = /^\s*([\w*-]+):/.exec(line) ?? []
    if (field === undefined || indentOf(line) >= inside) continue
    parents.unshift(field)
    inside = indentOf(line)
  }
  return parents
}

function fieldsAt(path: readonly string[]): Fields | null {
  let fields: Fields | undefined = POLICY_FILE
  for (const step of path) {
    const field: Field | undefined = fields?.[step] ?? fields?.[ANY]
    fields = field?.fields
  }
  return fields ?? null
}
