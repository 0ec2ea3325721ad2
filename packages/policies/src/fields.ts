// What the fields of a file can be, as zod schemas whose messages say what is allowed and what stands there instead. And
// from the issues that zod finds to findings: where in the value, and a sentence for a person.

import { DURATION_MS_MAX, durationMs, InvalidError, isRepriseError, nearMiss } from '@reprise/core'
import { z } from 'zod'

/** Something that is wrong with a value. */
export interface Finding {
  /** Leads to what is wrong; for a missing field, to the map that lacks it. */
  readonly path: readonly PropertyKey[]
  readonly message: string
  /** The name of the field is wrong, not its value. */
  readonly isName: boolean
}

export const findingsOf = (error: z.ZodError, value: unknown): readonly Finding[] =>
  error.issues.map((issue) => findingOf(issue, value))

function findingOf({ path, message, ...issue }: z.core.$ZodIssue, root: unknown): Finding {
  let value = root
  for (const [depth, step] of path.entries()) {
    const outer = { path: path.slice(0, depth), isName: false }
    // One text where a list may stand.
    if (typeof value !== 'object' || value === null) return { ...outer, message }
    if (!Object.hasOwn(value, step)) return { ...outer, message: `The field '${String(step)}' is missing.` }
    value = (value as Readonly<Record<PropertyKey, unknown>>)[step]
  }
  const isName = issue.code === 'custom' && issue.params === UNKNOWN_FIELD
  if (isName || value !== null || typeof path.at(-1) !== 'string') return { path, message, isName }
  return { path, message: 'This field has no value. Give it one, or leave it out.', isName }
}

const UNKNOWN_FIELD = {}

/** `policies[2].backoff.max`. */
export const pathText = (path: readonly PropertyKey[]): string => z.core.toDotPath([...path])

export const mustBe = (what: string, given: unknown): string => `This must be ${what}, not ${shown(given)}.`

function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  // As YAML has them: JSON would write null.
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? '.nan' : `${value < 0 ? '-' : ''}.inf`
  return typeof value === 'string' ? `'${value.slice(0, 40)}'` : JSON.stringify(value)
}

const wanted = (what: string) => ({ error: ({ input }: { readonly input?: unknown }) => mustBe(what, input) })

/** What the step gives; if it finds the value invalid, its sentence becomes an issue. */
export function checked<Out>(
  context: Pick<z.core.$RefinementCtx, 'addIssue'>,
  path: PropertyKey[],
  step: () => Out,
): Out {
  try {
    return step()
  } catch (error) {
    if (!isRepriseError(error, 'REPRISE_INVALID')) throw error
    context.addIssue({ code: 'custom', path, message: error.message })
    return z.NEVER
  }
}

/** The last step of a schema, if it is a function that throws. */
export const made =
  <In, Out>(make: (value: In) => Out) =>
  (value: In, context: z.core.$RefinementCtx<In>): Out =>
    checked(context, [], () => make(value))

export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const text = (maxLength = 200) =>
  z
    .string(wanted('a text'))
    .min(1, 'This must not be empty.')
    .max(maxLength, {
      error: ({ input }) => `This has ${(input as string).length} characters; at most ${maxLength} are allowed.`,
    })

export function numberIn(from: number, to: number) {
  const range = wanted(`a number from ${from} to ${to}`)
  return z.number(range).refine((value) => value >= from && value <= to, range)
}

export function whole(from: number, to: number) {
  const range = wanted(`a whole number from ${from} to ${to}`)
  return z.number(range).refine((value) => Number.isInteger(value) && value >= from && value <= to, range)
}

export const flag = () => z.boolean(wanted('true or false'))

export const oneOf = <const Choice extends string>(choices: readonly Choice[]) =>
  z.literal(choices, {
    error: ({ input }) =>
      `${mustBe(`one of ${choices.join(', ')}`, input)}${typeof input === 'string' ? nearMiss(input, choices) : ''}`,
  })

/** In milliseconds. A unit is asked for, because a bare number does not say whether it means seconds. */
export const duration = (fromMs = 0, toMs = DURATION_MS_MAX) =>
  z.string(wanted('a duration with its unit, such as 500ms, 30s, 5m or 2h')).transform(
    made((given) => {
      const ms = parsedMs(given)
      if (ms >= fromMs && ms <= toMs) return ms
      throw new InvalidError(mustBe(`a duration from ${fromMs} ms to ${toMs} ms`, given))
    }),
  )

/** The parser's own words would offer a bare number, which is not taken here. */
function parsedMs(given: string): number {
  try {
    return durationMs(given)
  } catch (error) {
    throw new InvalidError(
      `The duration ${shown(given)} is not understood. Write it with its unit and without a space, such as 500ms, 30s, 5m or 1h30m.`,
      { cause: error },
    )
  }
}

export const list = <Item extends z.ZodType>(maxItems: number, item: Item) =>
  z.array(item, wanted('a list')).max(maxItems, {
    error: ({ input }) =>
      `This has ${Array.isArray(input) ? input.length : 0} entries; at most ${maxItems} are allowed.`,
  })

/** A list, or one item alone. */
export const oneOrMore = <Item extends z.ZodType>(maxItems: number, item: Item) =>
  z.preprocess(
    (given) => (Array.isArray(given) || given === null ? given : [given]),
    list(maxItems, item).min(1, 'This list is empty. Name something, or leave the field out.'),
  )

type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name
type CamelKeys<Given> = { [Name in keyof Given as CamelCase<Name>]: Given[Name] }

/** A map with these fields and no others; `what` says what it is. Its `two_words` become `twoWords`. */
export function fields<Shape extends z.ZodRawShape>(what: string, shape: Shape) {
  const known = Object.keys(shape)
  const unknownField = z.unknown().refine(() => false, {
    params: UNKNOWN_FIELD,
    error: ({ path }) => {
      const near = nearMiss(String(path?.at(-1)), known)
      return `There is no such field in ${what}.${near} Known are: ${known.join(', ')}.`
    },
  })
  const map = z.object(shape, wanted(`${what} (${known.join(', ')})`)).catchall(unknownField)
  // Nothing but its own fields gets through.
  return (map as unknown as z.ZodObject<Shape, z.core.$strict>).transform((given) => {
    const entries = Object.entries(given).map(([name, value]) => [name.replaceAll(/_(.)/g, camelCase), value])
    return Object.fromEntries(entries) as CamelKeys<typeof given>
  })
}

const camelCase = (_: string, letter: string): string => letter.toUpperCase()

type Optional<Shape extends z.ZodRawShape> = { [Name in keyof Shape]: z.ZodExactOptional<Shape[Name]> }

/** Fields that may be left out. */
export const optional = <Shape extends z.ZodRawShape>(shape: Shape): Optional<Shape> =>
  Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, z.exactOptional(schema)])) as Optional<Shape>

/** What a value has to be, where that depends on the value. */
export function dependingOn<Out>(choose: (given: unknown) => z.ZodType<Out>): z.ZodType<Out> {
  return z.unknown().transform((given, context) => {
    const { success, data, error } = choose(given).safeParse(given)
    if (success) return data
    context.issues.push(...(error.issues as z.core.$ZodRawIssue[]))
    // Never used, but compared: checks of a whole list look at the names of all its items.
    return given as Out
  })
}

/** For a list of maps: no two with one name. `key` is the field that holds it. */
export const withoutNamesakes =
  (what: string, key = 'name') =>
  <Items extends z.ZodType<readonly unknown[]>>(items: Items): Items =>
    items.superRefine(
      (all, context) => {
        const names = new Set<unknown>()
        for (const [index, item] of all.entries()) {
          const name = isMap(item) ? item[key] : undefined
          if (typeof name === 'string' && names.has(name)) {
            const message = `Another ${what} is named '${name}' already.`
            context.addIssue({ code: 'custom', path: [index, key], message })
          }
          names.add(name)
        }
      },
      // Also if something else is wrong with them.
      { when: ({ value }) => Array.isArray(value) },
    )
