// Values that are drawn for requests: what a schema asks for, and everything else that callers come up with: other types, huge
// numbers, odd characters, names of prototypes, names of another tenant.

import fc from 'fast-check'

/** As much of JSON Schema as zod writes. */
export interface JsonSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly minimum?: number
  readonly maximum?: number
  readonly $ref?: string
}

/** Names that requests use: things that are there, of the attacker and of the victim. */
export type Names = readonly string[]

const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '..',
  '../../etc/passwd',
  '%2e%2e%2f',
  '%',
  '%ff',
  '\u0000',
  'a\nb',
  '\u202eevil',
  '\ud800',
  '\u{1f4a9}',
  'ß'.repeat(300),
  'x'.repeat(5_000),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'NaN',
  '-1',
  '1e999',
  '9007199254740993',
  "'; DROP TABLE tasks; --",
  '{{7*7}}',
  '<script>alert(1)</script>',
  '$where',
  '*',
  'status:',
  'id:"',
  'age>999999999999999999d',
  '-'.repeat(40),
  '2030-13-45T99:99:99Z',
  'eyJhbGciOiJub25lIn0.e30.',
  'W10',
  'e30',
  'rpr_0_0',
  'reprise.*,',
]

const ODD_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  0.5,
  1e21,
  1e308,
  -1e308,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER + 2,
  Number.MIN_SAFE_INTEGER,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  8_640_000_000_000_001,
]

export const oddText = (names: Names): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...names) },
    { weight: 3, arbitrary: fc.constantFrom(...ODD_TEXTS) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  )

const deep = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

export const oddValue = (names: Names): fc.Arbitrary<unknown> =>
  fc.oneof(
    oddText(names),
    fc.constantFrom(...ODD_NUMBERS),
    fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], { length: -1 }, deep(50), deep(1_000)),
    fc.array(oddText(names), { maxLength: 5 }),
    fc.dictionary(oddText(names), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
    fc.constant(Array.from({ length: 3_000 }, (_, index) => index)),
  )

const DEPTH_MAX = 5

/** Mostly what the schema asks for, so that requests come further than its check. */
export function valueFor(schema: JsonSchema, names: Names, depth = 0): fc.Arbitrary<unknown> {
  const fitting = depth > DEPTH_MAX ? fc.constant(null) : fittingValue(schema, names, depth)
  return fc.oneof({ weight: 12, arbitrary: fitting }, { weight: 1, arbitrary: oddValue(names) })
}

function fittingValue(schema: JsonSchema, names: Names, depth: number): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined && schema.enum.length > 0) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  const either = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (either !== undefined && either.length > 0)
    return fc.oneof(...either.map((one) => valueFor(one, names, depth + 1)))
  switch (schema.type) {
    case 'string':
      return oddText(names)
    case 'integer':
    case 'number':
      return fc.integer({
        min: bounded(schema.minimum, 0),
        max: Math.max(bounded(schema.maximum, 1_000), bounded(schema.minimum, 0)),
      })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valueFor(schema.items ?? {}, names, depth + 1), { maxLength: 3 })
    case 'object':
      return objectFor(schema, names, depth)
    default:
      return oddValue(names)
  }
}

const WHOLE_MAX = 2 ** 31 - 1
const bounded = (value: number | undefined, otherwise: number): number =>
  Math.max(Math.min(Math.trunc(value ?? otherwise), WHOLE_MAX), -WHOLE_MAX)

function objectFor({ properties = {}, required = [] }: JsonSchema, names: Names, depth: number): fc.Arbitrary<unknown> {
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valueFor(schema, names, depth + 1)]),
  )
  const known = fc.record(members, { requiredKeys: required.filter((name) => Object.hasOwn(properties, name)) })
  const extra = fc.dictionary(
    fc.constantFrom('__proto__', 'constructor', 'extra', 'tenant', 'limit'),
    oddValue(names),
    {
      maxKeys: 1,
    },
  )
  return fc.oneof(
    { weight: 8, arbitrary: known },
    { weight: 1, arbitrary: fc.tuple(known, extra).map(([one, more]) => ({ ...one, ...more })) },
  )
}
