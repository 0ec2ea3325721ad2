// Whether a JSON value fits a JSON Schema, as far as its plain keywords tell: types, members, items, bounds, patterns, choices, and
// references within the schema. Schemas come from workers, so nothing here is compiled or fetched, patterns match in linear time, and
// the work is bounded. A keyword that is not known here is not judged: the handler's own schema has the last word when the task runs.

import { Pattern } from '../patterns/pattern.ts'
import type { StandardSchema } from './standard-schema.ts'

type Schema = Readonly<Record<string, unknown>>

/** A longer one is not published. */
export const SCHEMA_LENGTH_MAX = 32_768
const STEPS_MAX = 20_000
const DEPTH_MAX = 60
const TEXT_LENGTH_MAX = 40

/**
 * As libraries with Standard JSON Schema have it. Not a part of `StandardSchema`: with it there, the types of handlers could no
 * longer be inferred from schemas of zod.
 */
interface WithJsonSchema {
  readonly version: 1
  readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> }
}

/** The JSON Schema of what an action takes, as text; undefined if its schema can't tell, or is too long. */
export function publishedSchema(schema: StandardSchema<unknown, unknown> | null): string | undefined {
  try {
    const standard: WithJsonSchema | undefined = schema?.['~standard']
    const text = JSON.stringify(standard?.jsonSchema?.input({ target: 'draft-2020-12' })) as string | undefined
    return text === undefined || text.length > SCHEMA_LENGTH_MAX ? undefined : text
  } catch {
    // A schema with parts that JSON Schema has no words for.
    return undefined
  }
}

/** What is wrong, such as `/customer: it has no 'name'`; null if nothing is, or nothing can be told. */
export function schemaProblem(schema: unknown, value: unknown): string | null {
  const check = new SchemaCheck(schema)
  return check.problem(schema, value, '', 0)
}

class SchemaCheck {
  readonly #root: unknown
  #steps = 0

  constructor(root: unknown) {
    this.#root = root
  }

  problem(schema: unknown, value: unknown, path: string, depth: number): string | null {
    if (schema === false) return said(path, 'nothing may stand here')
    if (!isObject(schema) || ++this.#steps > STEPS_MAX || depth > DEPTH_MAX) return null
    const referred = typeof schema.$ref === 'string' ? this.#at(schema.$ref) : undefined
    if (referred !== undefined) {
      const problem = this.problem(referred, value, path, depth + 1)
      if (problem !== null) return problem
    }
    return (
      ofType(schema, value, path) ??
      ofChoice(schema, value, path) ??
      ofNumber(schema, value, path) ??
      ofText(schema, value, path) ??
      this.#ofList(schema, value, path, depth) ??
      this.#ofMembers(schema, value, path, depth) ??
      this.#ofOthers(schema, value, path, depth)
    )
  }

  #at(reference: string): unknown {
    if (!reference.startsWith('#')) return undefined
    let found: unknown = this.#root
    for (const step of reference.slice(1).split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      if (!isObject(found) || !Object.hasOwn(found, name)) return undefined
      found = found[name]
    }
    return found
  }

  #ofList({ items, prefixItems, minItems, maxItems }: Schema, value: unknown, path: string, depth: number) {
    if (!Array.isArray(value)) return null
    if (typeof minItems === 'number' && value.length < minItems) return said(path, `it has less than ${minItems} items`)
    if (typeof maxItems === 'number' && value.length > maxItems) return said(path, `it has more than ${maxItems} items`)
    const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : []
    for (const [at, item] of (value as unknown[]).entries()) {
      const problem = this.problem(at < first.length ? first[at] : items, item, `${path}/${at}`, depth + 1)
      if (problem !== null) return problem
    }
    return null
  }

  #ofMembers(schema: Schema, value: unknown, path: string, depth: number): string | null {
    if (!isObject(value)) return null
    const { properties, required, additionalProperties, patternProperties } = schema
    for (const name of Array.isArray(required) ? (required as unknown[]) : []) {
      if (typeof name === 'string' && !Object.hasOwn(value, name)) return said(path, `it has no '${name}'`)
    }
    const known = isObject(properties) ? properties : {}
    for (const [name, member] of Object.entries(value)) {
      const isKnown = Object.hasOwn(known, name)
      if (!isKnown && patternProperties !== undefined) continue
      if (!isKnown && additionalProperties === false) return said(path, `nobody knows '${cut(name)}'`)
      const problem = this.problem(isKnown ? known[name] : additionalProperties, member, `${path}/${name}`, depth + 1)
      if (problem !== null) return problem
    }
    return null
  }

  #ofOthers({ allOf, anyOf, oneOf }: Schema, value: unknown, path: string, depth: number): string | null {
    for (const part of Array.isArray(allOf) ? (allOf as unknown[]) : []) {
      const problem = this.problem(part, value, path, depth + 1)
      if (problem !== null) return problem
    }
    for (const choices of [anyOf, oneOf]) {
      if (!Array.isArray(choices) || choices.length === 0) continue
      const problems = (choices as unknown[]).map((choice) => this.problem(choice, value, path, depth + 1))
      if (!problems.includes(null)) return problems[0] ?? null
    }
    return null
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const said = (path: string, what: string): string => `${path === '' ? 'the payload' : path}: ${what}`
const cut = (text: string): string => text.slice(0, TEXT_LENGTH_MAX)

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function ofType({ type }: Schema, value: unknown, path: string): string | null {
  if (type === undefined) return null
  const allowed: readonly unknown[] = Array.isArray(type) ? type : [type]
  const is = typeOf(value)
  if (allowed.includes(is) || (is === 'integer' && allowed.includes('number'))) return null
  return said(path, `it is of type ${is}, not ${allowed.join(' or ')}`)
}

function ofChoice(schema: Schema, value: unknown, path: string): string | null {
  const choices = Array.isArray(schema.enum) ? (schema.enum as unknown[]) : 'const' in schema ? [schema.const] : null
  if (choices === null) return null
  const text = JSON.stringify(value)
  return choices.some((choice) => JSON.stringify(choice) === text)
    ? null
    : said(path, 'it is none of the allowed values')
}

function ofNumber({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema, value: unknown, path: string) {
  if (typeof value !== 'number') return null
  if (typeof minimum === 'number' && value < minimum) return said(path, `it is below ${minimum}`)
  if (typeof maximum === 'number' && value > maximum) return said(path, `it is above ${maximum}`)
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    return said(path, `it is not above ${exclusiveMinimum}`)
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    return said(path, `it is not below ${exclusiveMaximum}`)
  return null
}

function ofText({ minLength, maxLength, pattern }: Schema, value: unknown, path: string): string | null {
  if (typeof value !== 'string') return null
  if (typeof minLength === 'number' && value.length < minLength)
    return said(path, `it is shorter than ${minLength} characters`)
  if (typeof maxLength === 'number' && value.length > maxLength) {
    return said(path, `it is longer than ${maxLength} characters`)
  }
  return typeof pattern === 'string' && !agrees(pattern, value) ? said(path, `it does not match ${cut(pattern)}`) : null
}

/** A pattern that does not match in linear time is not judged. */
function agrees(source: string, text: string): boolean {
  try {
    return new Pattern(source).test(text)
  } catch {
    return true
  }
}
