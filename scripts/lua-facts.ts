// Puts facts that are written down in TypeScript into Lua, as literals: nothing is looked up while a script runs.
//
//   constants  `AVOID_MS`                its value: a number, a text, or a table
//              `ACTORS.sweep`            one value of a table
//   records    `LANE.turn`               the place of a field, counted from 1
//              `LANE_AT.turn`            the same counted from 0: what to add to where the record begins
//              `#LANE`                   how many fields it has
//              `LANE`                    the names of its fields, as a table
//              `LANE.fields(was)`        turn = was[2], picks = was[3], …
//              `LANE.values(lane)`       lane.turn, lane.picks, …
//              `LANE.args(at)`           turn = ARGV[at + 1], picks = ARGV[at + 2], …
//
// A Lua file may not declare such a name again, and may not use a name in capitals that is neither a fact nor declared.

export type Fact = number | string | boolean | readonly Fact[] | { readonly [name: string]: Fact }

export interface LuaFacts {
  readonly constants: Readonly<Record<string, Fact>>
  /** The fields of each record, in order. */
  readonly records: Readonly<Record<string, readonly string[]>>
}

export const NO_FACTS: LuaFacts = { constants: {}, records: {} }

/** A text or a comment, which stay as they are; or a name, with what belongs to it. */
const token =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|--[^\n]*|(?<before>[.:]?)(?<size>#?)\b(?<name>[A-Z][A-Z0-9_]*[A-Z0-9])\b(?:\.(?<field>\w+)(?:\((?<of>\w+)\))?)?/g
const declared = /^\s*local (?<names>\w+(?:, \w+)*)/gm

export function withFacts(file: string, text: string, facts: LuaFacts, problems: string[]): string {
  for (const name of declaredIn(text)) {
    if (name in facts.constants || name in facts.records) problems.push(`${file}: ${name} is a fact: don't declare it`)
  }
  return text.replace(token, (found, ...rest) => {
    const { before, size, name, field, of } = rest.at(-1) as Record<string, string | undefined>
    if (name === undefined || before !== '') return found
    const constant = facts.constants[name]
    if (constant !== undefined) {
      if (field === undefined) return `${size}${luaLiteral(constant)}`
      const value = fieldOf(constant, field)
      if (value === undefined) problems.push(`${file}: ${name} has no field '${field}'`)
      return luaLiteral(value ?? field)
    }
    const record = facts.records[name] ?? facts.records[name.replace(/_AT$/, '')]
    if (record === undefined) return found
    if (size !== '') return String(record.length)
    if (field === undefined) return luaLiteral(record)
    if (field === 'fields' && of !== undefined) return record.map((one, at) => `${one} = ${of}[${at + 1}]`).join(', ')
    if (field === 'args' && of !== undefined) return record.map((one, at) => `${one} = ARGV[${of} + ${at}]`).join(', ')
    if (field === 'values' && of !== undefined) return record.map((one) => `${of}.${one}`).join(', ')
    const place = record.indexOf(field)
    if (place === -1) problems.push(`${file}: ${name} has no field '${field}'`)
    return String(name in facts.records ? place + 1 : place)
  })
}

/** Names in capitals that no file declares, each with the file that uses it: a fact that was not given, or a slip. */
export function undeclared(files: readonly { readonly name: string; readonly text: string }[]): string[] {
  const known = new Set(['KEYS', 'ARGV', ...files.flatMap(({ text }) => declaredIn(text))])
  return files.flatMap(({ name, text }) =>
    [...text.matchAll(token)].flatMap(({ groups }) => {
      const used = groups?.before === '' ? groups.name : undefined
      return used === undefined || known.has(used) ? [] : [`${name}: ${used} is neither a fact nor declared`]
    }),
  )
}

const declaredIn = (text: string): string[] =>
  [...text.matchAll(declared)].flatMap(({ groups }) => groups?.names?.split(/, ?/) ?? [])

function luaLiteral(fact: Fact): string {
  if (typeof fact === 'string') return `'${fact.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`
  if (typeof fact !== 'object') return String(fact)
  if (isList(fact)) return `{ ${fact.map(luaLiteral).join(', ')} }`
  return `{ ${Object.entries(fact)
    .map(([name, value]) => `${name} = ${luaLiteral(value)}`)
    .join(', ')} }`
}

/** Whether a value can be written in Lua. */
export function isFact(value: unknown): value is Fact {
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value !== 'object' || value === null || value instanceof RegExp || value instanceof Map) return false
  return Object.values(value).every(isFact)
}

const fieldOf = (constant: Fact, field: string): Fact | undefined =>
  typeof constant === 'object' && !isList(constant) ? constant[field] : undefined

const isList = (fact: Fact): fact is readonly Fact[] => Array.isArray(fact)
