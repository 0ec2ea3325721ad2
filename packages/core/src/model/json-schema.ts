// Whether a JSON value fits a JSON Schema, as far as its plain keywords tell: types, members, items, bounds, patterns, choices, and
// references within the schema. Schemas come from workers, so nothing here is compiled or fetched, patterns match in linear time, and
// the work is bounded: everything that is looked at is a step, and once the steps are spent nothing more is judged. A keyword that is not known here is not judged: the handler's own schema has the last word when the task runs.

import { Pattern, stepBudget } from '../patterns/pattern.ts'
import type { StandardSchema } from './standard-schema.ts'

type Schema = Readonly<Record<string, unknown>>

/** A longer one is not published. */
export const SCHEMA_LENGTH_MAX = 32_768
const STEPS_MAX = 20_000
/** What all patterns may cost together, in steps of theirs. */
const PATTERN_STEPS_MAX = 100_000
/** How much of a schema's patterns is made ready to match. */
const PATTERN_STATES_MAX = 2_000
/** What one counts that was refused half-way. */
const REFUSED_PATTERN_STATES = 500
const DEPTH_MAX = 60
const TEXT_LENGTH_MAX = 40
const PATH_LENGTH_MAX = 100

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
  #stepsLeft = STEPS_MAX
  readonly #patternSteps = stepBudget(PATTERN_STEPS_MAX)
  readonly #patterns = new Map<string, Pattern | null>()
  #statesLeft = PATTERN_STATES_MAX

  constructor(root: unknown) {
    this.#root = root
  }

  /** Whether so many more steps were left. */
  #spend(steps = 1): boolean {
    this.#stepsLeft -= steps
    return this.#stepsLeft >= 0
  }

  problem(schema: unknown, value: unknown, path: string, depth: number): string | null {
    if (!this.#spend()) return null
    if (schema === false) return said(path, 'nothing may stand here')
    if (!isObject(schema) || depth > DEPTH_MAX) return null
    const referred = typeof schema.$ref === 'string' ? this.#at(schema.$ref) : undefined
    if (referred !== undefined) {
      const problem = this.problem(referred, value, path, depth + 1)
      if (problem !== null) return problem
    }
    return (
      this.#ofType(schema, value, path) ??
      this.#ofChoice(schema, value, path) ??
      ofNumber(schema, value, path) ??
      this.#ofText(schema, value, path) ??
      this.#ofList(schema, value, path, depth) ??
      this.#ofMembers(schema, value, path, depth) ??
      this.#ofOthers(schema, value, path, depth)
    )
  }

  #at(reference: string): unknown {
    if (!reference.startsWith('#') || !this.#spend(reference.length)) return undefined
    let found: unknown = this.#root
    for (const step of reference.slice(1).split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      if (!isObject(found) || !Object.hasOwn(found, name)) return undefined
      found = found[name]
    }
    return found
  }

  #ofType({ type }: Schema, value: unknown, path: string): string | null {
    if (type === undefined) return null
    const allowed: readonly unknown[] = Array.isArray(type) ? type : [type]
    if (!this.#spend(allowed.length)) return null
    const is = typeOf(value)
    if (allowed.includes(is) || (is === 'integer' && allowed.includes('number'))) return null
    return said(path, `it is of type ${is}, not ${cut(allowed.join(' or '))}`)
  }

  #ofChoice(schema: Schema, value: unknown, path: string): string | null {
    const choices = Array.isArray(schema.enum) ? (schema.enum as unknown[]) : 'const' in schema ? [schema.const] : null
    if (choices === null) return null
    return choices.some((choice) => this.#isSame(choice, value)) ? null : said(path, 'it is none of the allowed values')
  }

  /** Also if there are no steps left to tell. */
  #isSame(choice: unknown, value: unknown): boolean {
    if (!this.#spend()) return true
    if (Array.isArray(choice)) {
      return (
        Array.isArray(value) &&
        value.length === choice.length &&
        choice.every((item, at) => this.#isSame(item, value[at]))
      )
    }
    if (!isObject(choice)) return choice === value
    if (!isObject(value)) return false
    const names = Object.keys(choice)
    return (
      names.every((name) => Object.hasOwn(value, name) && this.#isSame(choice[name], value[name])) &&
      this.#namesOf(value).length === names.length
    )
  }

  /** An object may have many, and each costs. */
  #namesOf(value: Record<string, unknown>): readonly string[] {
    const names = Object.keys(value)
    this.#spend(names.length)
    return names
  }

  #ofText({ minLength, maxLength, pattern }: Schema, value: unknown, path: string): string | null {
    if (typeof value !== 'string') return null
    if (typeof minLength === 'number' && value.length < minLength)
      return said(path, `it is shorter than ${minLength} characters`)
    if (typeof maxLength === 'number' && value.length > maxLength) {
      return said(path, `it is longer than ${maxLength} characters`)
    }
    return typeof pattern === 'string' && !this.#agrees(pattern, value)
      ? said(path, `it does not match ${cut(pattern)}`)
      : null
  }

  /** A pattern that does not match in linear time, or for which there are no steps left, is not judged. */
  #agrees(source: string, text: string): boolean {
    const pattern = this.#patternOf(source)
    return pattern === null || pattern.test(text, this.#patternSteps) || this.#patternSteps.left <= 0
  }

  #patternOf(source: string): Pattern | null {
    const known = this.#patterns.get(source)
    if (known !== undefined) return known
    const made = this.#statesLeft > 0 ? madePattern(source) : null
    this.#statesLeft -= made?.size ?? REFUSED_PATTERN_STATES
    this.#patterns.set(source, made)
    return made
  }

  #ofList({ items, prefixItems, minItems, maxItems }: Schema, value: unknown, path: string, depth: number) {
    if (!Array.isArray(value)) return null
    if (typeof minItems === 'number' && value.length < minItems) return said(path, `it has less than ${minItems} items`)
    if (typeof maxItems === 'number' && value.length > maxItems) return said(path, `it has more than ${maxItems} items`)
    const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : []
    const judged = items === undefined ? Math.min(first.length, value.length) : value.length
    for (let at = 0; at < judged && this.#stepsLeft > 0; at++) {
      const item: unknown = value[at]
      const problem = this.problem(at < first.length ? first[at] : items, item, `${path}/${at}`, depth + 1)
      if (problem !== null) return problem
    }
    return null
  }

  #ofMembers(schema: Schema, value: unknown, path: string, depth: number): string | null {
    if (!isObject(value)) return null
    const { properties, required, additionalProperties, patternProperties } = schema
    for (const name of Array.isArray(required) ? (required as unknown[]) : []) {
      if (!this.#spend()) return null
      if (typeof name === 'string' && !Object.hasOwn(value, name)) return said(path, `it has no '${cut(name)}'`)
    }
    if (properties === undefined && additionalProperties === undefined) return null
    const known = isObject(properties) ? properties : {}
    for (const name of Object.keys(value)) {
      if (!this.#spend()) return null
      const isKnown = Object.hasOwn(known, name)
      if (!isKnown && patternProperties !== undefined) continue
      if (!isKnown && additionalProperties === false) return said(path, `nobody knows '${cut(name)}'`)
      const judge = isKnown ? known[name] : additionalProperties
      const problem = this.problem(judge, value[name], `${path}/${name}`, depth + 1)
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

const said = (path: string, what: string): string =>
  `${path === '' ? 'the payload' : path.slice(0, PATH_LENGTH_MAX)}: ${what}`
const cut = (text: string): string => text.slice(0, TEXT_LENGTH_MAX)

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
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

function madePattern(source: string): Pattern | null {
  try {
    return new Pattern(source)
  } catch {
    return null
  }
}
