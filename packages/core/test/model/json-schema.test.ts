// Whether payloads fit the JSON Schema that a worker published, as far as plain keywords tell.

import { publishedSchema, schemaProblem } from '@reprise/core'
import { expect, test } from 'vitest'

const ORDER = {
  $defs: { customer: { type: 'object', required: ['id'], properties: { id: { type: 'integer', minimum: 1 } } } },
  type: 'object',
  required: ['customer', 'currency'],
  additionalProperties: false,
  properties: {
    customer: { $ref: '#/$defs/customer' },
    currency: { enum: ['EUR', 'USD'] },
    tags: { type: 'array', maxItems: 2, items: { type: 'string', pattern: '^[a-z]+$' } },
    note: { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
  },
}
const GOOD = { customer: { id: 7 }, currency: 'EUR' }

test.each([
  [GOOD, null],
  [{ ...GOOD, tags: ['a', 'b'], note: null }, null],
  [{ currency: 'EUR' }, "the payload: it has no 'customer'"],
  [{ ...GOOD, customer: {} }, "/customer: it has no 'id'"],
  [{ ...GOOD, customer: { id: '7' } }, '/customer/id: it is of type string, not integer'],
  [{ ...GOOD, customer: { id: 0 } }, '/customer/id: it is below 1'],
  [{ ...GOOD, currency: 'GBP' }, '/currency: it is none of the allowed values'],
  [{ ...GOOD, tags: ['A'] }, '/tags/0: it does not match ^[a-z]+$'],
  [{ ...GOOD, tags: ['a', 'b', 'c'] }, '/tags: it has more than 2 items'],
  [{ ...GOOD, note: 'long' }, '/note: it is longer than 3 characters'],
  [{ ...GOOD, extra: 1 }, "the payload: nobody knows 'extra'"],
  [[], 'the payload: it is of type array, not object'],
])('%j: %s', (value, problem) => {
  expect(schemaProblem(ORDER, value)).toBe(problem)
})

test('what it does not know, it does not judge, and a schema without end ends', () => {
  expect(schemaProblem({ type: 'string', format: 'email' }, 'nobody')).toBeNull()
  expect(schemaProblem({ $ref: 'https://example.com/schema' }, 1)).toBeNull()
  expect(schemaProblem({ $ref: '#' }, 1)).toBeNull()
  expect(schemaProblem({ type: 'string', pattern: '(?=a)b' }, 'b')).toBeNull()
})

test('what a schema asks for is bounded, whatever it repeats', () => {
  const $defs = {
    names: { required: Array.from({ length: 2_000 }, () => 'a') },
    choice: { enum: [Array.from({ length: 3_000 }, () => 0)] },
    items: { items: {} },
    members: { additionalProperties: {} },
  }
  for (const name of Object.keys($defs)) {
    const many = Array.from({ length: 500 }, () => ({ $ref: `#/$defs/${name}` }))
    let looks = 0
    const list = Array.from({ length: 3_000 }, () => 0)
    const value = new Proxy(name === 'names' || name === 'members' ? Object.fromEntries(list.entries()) : list, {
      get(holder, at) {
        looks++
        return Reflect.get(holder, at) as unknown
      },
      getOwnPropertyDescriptor(holder, at) {
        looks++
        return Reflect.getOwnPropertyDescriptor(holder, at)
      },
    })
    schemaProblem({ $defs, allOf: many }, value)
    expect(looks).toBeLessThan(100_000)
  }
})

test('patterns have a budget for the whole schema', () => {
  const slow = Array.from({ length: 1_000 }, (_, number) => ({ pattern: `(a?a?){200}Z${number}` }))
  expect(schemaProblem({ allOf: slow }, 'a'.repeat(1_000_000))).toBeNull()
})

test('a schema that can tell its JSON Schema is published, and any other is not', () => {
  const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } as const
  const telling = { '~standard': { ...standard, jsonSchema: { input: () => ({ type: 'string' }) } } }
  expect(publishedSchema(telling)).toBe('{"type":"string"}')
  expect(publishedSchema({ '~standard': standard })).toBeUndefined()
  expect(publishedSchema(null)).toBeUndefined()
  const input = (): never => {
    throw new Error('no words for it')
  }
  const broken = { '~standard': { ...standard, jsonSchema: { input } } }
  expect(publishedSchema(broken)).toBeUndefined()
})
