// JSON on its way in and out: what is refused, what survives, what is dropped.

import {
  checkedJson,
  decodeJson,
  encodeJson,
  InvalidError,
  JSON_DEPTH_MAX,
  JSON_NULL,
  type JsonText,
  PAYLOAD_BYTES_MAX,
  TooLargeError,
} from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const nested = (levels: number): unknown => (levels === 0 ? 0 : [nested(levels - 1)])
const bytes = (text: string): number => Buffer.byteLength(text, 'utf8')

describe('encodeJson', () => {
  test('nothing given is null', () => {
    expect(encodeJson(undefined, 'payload')).toBe(JSON_NULL)
    expect(encodeJson(null, 'payload')).toBe('null')
  })

  const circular: { self?: unknown } = {}
  circular.self = circular

  test.each<[string, unknown]>([
    ['a BigInt', 1n],
    ['a BigInt inside', { id: 1n }],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a circle', circular],
    ['a toJSON that gives nothing', { toJSON: () => undefined }],
    [
      'a getter that throws',
      {
        get secret() {
          throw new Error('no')
        },
      },
    ],
    [
      'a toJSON that throws something odd',
      {
        toJSON() {
          throw Object.create(null)
        },
      },
    ],
  ])('refuses %s', (_, value) => {
    expect(() => encodeJson(value, 'payload')).toThrow(InvalidError)
    expect(() => encodeJson(value, 'payload')).toThrow("The payload can't be written as JSON")
  })

  test('fault 23: NUL, lone surrogates, emoji and 64-bit integers as strings come back as they were', () => {
    const value = { nul: 'a\u0000b', high: '\ud800', low: '\udc00', emoji: '👩‍🚀', big: '9223372036854775807' }
    const text = encodeJson(value, 'payload')
    expect(text).not.toContain('\u0000')
    expect(text.isWellFormed()).toBe(true)
    expect(decodeJson(text)).toEqual(value)
  })

  test('any JSON value comes back as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = encodeJson(value, 'payload')
        fc.pre(!text.includes('__proto__'))
        expect(JSON.stringify(decodeJson(text))).toBe(text)
      }),
    )
  })
})

describe('size', () => {
  test('is counted in bytes, the quotes included', () => {
    expect(encodeJson('é'.repeat(4), 'payload', 10)).toBe('"éééé"')
    expect(() => encodeJson('é'.repeat(5), 'payload', 11)).toThrow(TooLargeError)
    expect(() => encodeJson('é'.repeat(5), 'payload', 11)).toThrow('takes 12 bytes; at most 11')
  })

  test.each([
    ['one byte', 'a', 1],
    ['two bytes', 'ß', 2],
    ['three bytes', '€', 3],
    ['four bytes', '🙂', 4],
  ])('knows characters of %s', (_, character, size) => {
    const text = character.repeat(100)
    const exact = size * 100 + 2
    expect(encodeJson(text, 'payload', exact)).toHaveLength(text.length + 2)
    expect(() => encodeJson(text, 'payload', exact - 1)).toThrow(TooLargeError)
  })

  test('agrees with UTF-8 for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const size = bytes(JSON.stringify(text))
        expect(() => encodeJson(text, 'payload', size)).not.toThrow()
        expect(() => encodeJson(text, 'payload', size - 1)).toThrow(TooLargeError)
      }),
    )
  })

  test('fault 22: a payload of 10 MB is refused with status 413', () => {
    const text = `"${'x'.repeat(10 * 1_048_576)}"`
    expect(() => encodeJson(text, 'payload')).toThrow(expect.objectContaining({ status: 413 }))
    expect(() => checkedJson(text, 'payload')).toThrow(TooLargeError)
    expect(encodeJson('x'.repeat(PAYLOAD_BYTES_MAX - 2), 'payload')).toHaveLength(PAYLOAD_BYTES_MAX)
  })
})

describe('depth', () => {
  test('goes to the limit and no deeper', () => {
    expect(() => encodeJson(nested(JSON_DEPTH_MAX), 'payload')).not.toThrow()
    expect(() => encodeJson(nested(JSON_DEPTH_MAX + 1), 'payload')).toThrow('nests deeper than 100 levels')
    expect(() => checkedJson(`${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, 'payload')).toThrow(InvalidError)
  })

  test('a hundred thousand levels are refused like a hundred and one', () => {
    expect(() => checkedJson('['.repeat(100_000), 'payload')).toThrow(InvalidError)
  })

  test('brackets in strings do not count, also after an escaped quote', () => {
    const text = `"${'['.repeat(500)}"`
    expect(checkedJson(JSON.stringify(`\\"${text}`), 'payload')).toContain('[[[')
  })

  test('many things side by side are not deep', () => {
    const list = Array.from({ length: 500 }, () => [{}])
    expect(() => encodeJson(list, 'payload')).not.toThrow()
  })
})

describe('checkedJson', () => {
  test('gives the text back untouched', () => {
    expect(checkedJson(' {"a": 1.50} ', 'payload')).toBe(' {"a": 1.50} ')
  })

  test.each(['', '{', '{a:1}', "'a'", '[1,]', '"\u0000"', 'NaN', 'undefined', '01'])('refuses %j', (text) => {
    expect(() => checkedJson(text, 'payload')).toThrow('The payload is not valid JSON.')
  })

  test('fault 23: a bare half of a surrogate pair is refused, an escaped one is kept', () => {
    expect(() => checkedJson('"\ud800"', 'payload')).toThrow(InvalidError)
    expect(decodeJson(checkedJson('"\\ud800"', 'payload'))).toBe('\ud800')
  })
})

describe('decodeJson drops __proto__', () => {
  test.each([
    ['plain', '{"__proto__":{"admin":true},"a":1}'],
    ['escaped', '{"\\u005f\\u005fproto\\u005f\\u005f":{"admin":true},"a":1}'],
    ['escaped in part, in capitals', '{"_\\u005Fproto__":{"admin":true},"a":1}'],
  ])('%s', (_, text) => {
    const decoded = decodeJson(text as JsonText)
    expect(Object.keys(decoded as object)).toEqual(['a'])
    expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype)
    expect({}).not.toHaveProperty('admin')
  })

  test('at any depth, and keeps a text that only mentions it', () => {
    const text = '[{"a":{"__proto__":1,"b":"__proto__"}}]' as JsonText
    expect(decodeJson(text)).toEqual([{ a: { b: '__proto__' } }])
  })
})
