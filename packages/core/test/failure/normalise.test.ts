// Whatever a handler throws becomes plain bounded text (faults 20 and 22), and reading it never throws.

import { CODE_LENGTH_MAX, cut, MESSAGE_LENGTH_MAX, normalise } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DETAILS_LENGTH_MAX, type Normalised, STACK_LENGTH_MAX } from '../../src/failure/normalise.ts'

// '… [cut, 10469760 more characters]' and a little room.
const MARK_LENGTH_MAX = 50

const refuse = (): never => {
  throw new Error('no')
}

/** What is wrong with the outcome: too long, not well formed, not JSON. Empty when all is right. */
function problems(of: Normalised): string[] {
  const parts = [
    ['name', of.name, CODE_LENGTH_MAX + MARK_LENGTH_MAX],
    ['message', of.message, MESSAGE_LENGTH_MAX + MARK_LENGTH_MAX],
    ['code', of.code ?? '', CODE_LENGTH_MAX + MARK_LENGTH_MAX],
    ['stack', of.stack ?? '', STACK_LENGTH_MAX + MARK_LENGTH_MAX],
    ['details', of.details ?? '', DETAILS_LENGTH_MAX],
  ] as const
  return [
    ...parts.filter(([, text, maxLength]) => text.length > maxLength).map(([part]) => `${part} is too long`),
    ...parts.filter(([, text]) => !text.isWellFormed()).map(([part]) => `${part} is not well formed`),
    ...(of.message === '' ? ['message is empty'] : []),
    ...(of.details !== null && !isJson(of.details) ? ['details are not JSON'] : []),
    ...([null, 'retry', 'dead'].includes(of.says) ? [] : ['says is odd']),
    ...(of.retryAfterMs === null || of.retryAfterMs >= 0 ? [] : ['retryAfterMs is odd']),
  ]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('fault 20: odd things to throw', () => {
  const circular: Record<string, unknown> = { a: 1 }
  circular.self = circular

  test.each<[string, unknown, { name: string; message: string }]>([
    ['undefined', undefined, { name: 'undefined', message: 'The handler threw undefined.' }],
    ['null', null, { name: 'null', message: 'The handler threw null.' }],
    ['a string', 'no paper', { name: 'string', message: 'no paper' }],
    ['an empty string', '', { name: 'string', message: 'The handler threw without a message.' }],
    ['a number', 42, { name: 'number', message: 'The handler threw 42.' }],
    ['false', false, { name: 'boolean', message: 'The handler threw false.' }],
    ['a symbol', Symbol('x'), { name: 'symbol', message: 'The handler threw Symbol(x).' }],
    ['a BigInt', 10n, { name: 'bigint', message: 'The handler threw 10.' }],
    ['a plain object', { a: 1 }, { name: 'Object', message: '{"a":1}' }],
    ['an object without a prototype', Object.create(null), { name: 'Error', message: '{}' }],
    ['a circular object', circular, { name: 'Object', message: '{"a":1,"self":"[seen above]"}' }],
    [
      'an error without a message',
      new RangeError(),
      { name: 'RangeError', message: 'The handler threw without a message.' },
    ],
    ['an object with a message', { name: 'Jam', message: 'paper jam' }, { name: 'Jam', message: 'paper jam' }],
    ['an object that holds a BigInt', { id: 5n }, { name: 'Object', message: '{"id":"5"}' }],
  ])('%s', (_, thrown, expected) => {
    const normalised = normalise(thrown)
    expect(normalised).toMatchObject(expected)
    expect(problems(normalised)).toEqual([])
  })

  test('an error whose getters all throw', () => {
    const error = new Error('hidden')
    for (const field of ['name', 'message', 'stack', 'code', 'cause', 'status', 'extra']) {
      Object.defineProperty(error, field, { get: refuse, enumerable: true })
    }
    expect(normalise(error)).toEqual({
      code: null,
      httpCode: null,
      name: 'Error',
      message: 'An object that can not be shown was thrown.',
      stack: null,
      says: null,
      retryAfterMs: null,
      details: null,
    })
  })

  test('a proxy that throws on everything', () => {
    const handler: ProxyHandler<object> = new Proxy({}, { get: () => refuse })
    const normalised = normalise(new Proxy({}, handler))
    expect(normalised.message).toBe('An object that can not be shown was thrown.')
    expect(problems(normalised)).toEqual([])
    expect(problems(normalise(new Proxy(() => 0, handler)))).toEqual([])
  })

  test('a proxy that answers everything with itself', () => {
    const mirror: object = new Proxy({}, { get: () => mirror, has: () => true })
    const normalised = normalise(mirror)
    expect(normalised.says).toBeNull()
    expect(normalised.retryAfterMs).toBeNull()
    expect(problems(normalised)).toEqual([])
  })

  test('a revoked proxy', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(problems(normalise(proxy))).toEqual([])
  })

  test('a toString, a toJSON and a constructor that throw', () => {
    expect(problems(normalise(Object.assign(() => 0, { toString: refuse })))).toEqual([])
    expect(problems(normalise({ toJSON: refuse }))).toEqual([])
    expect(problems(normalise(Object.defineProperty({}, 'constructor', { get: refuse })))).toEqual([])
  })

  test('an object nested too deep for JSON', () => {
    let deep: unknown = 0
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(normalise(deep).message).toBe('An object that can not be shown was thrown.')
  })

  test('anything at all: it never throws, and what comes out is bounded', () => {
    const value = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withObjectString: true,
      withUnicodeString: true,
    })
    const error = fc
      .record(
        {
          name: value,
          message: value,
          stack: value,
          code: value,
          cause: value,
          status: value,
          statusCode: value,
          extra: value,
        },
        { requiredKeys: [] },
      )
      .map((fields) => Object.assign(new Error('x'), fields))
    fc.assert(
      fc.property(fc.oneof(value, error), (thrown) => {
        expect(problems(normalise(thrown))).toEqual([])
      }),
    )
  })
})

describe('fault 22: long texts are cut, with a mark', () => {
  test('a stack of 10 MB', () => {
    const error = new Error('x')
    error.stack = 's'.repeat(10 * 1_048_576)
    expect(normalise(error).stack).toBe(`${'s'.repeat(16_000)}… [cut, 10469760 more characters]`)
  })

  test('message, name and code', () => {
    const normalised = normalise({ message: 'm'.repeat(4_001), name: 'n'.repeat(200), code: 'c'.repeat(101) })
    expect(normalised.message).toBe(`${'m'.repeat(4_000)}… [cut, 1 more characters]`)
    expect(normalised.name).toBe(`${'n'.repeat(100)}… [cut, 100 more characters]`)
    expect(normalised.code).toBe(`${'c'.repeat(100)}… [cut, 1 more characters]`)
  })

  test('details that are too long are left out', () => {
    expect(normalise({ message: 'x', body: 'b'.repeat(DETAILS_LENGTH_MAX) }).details).toBeNull()
  })

  test('a text at the limit stays whole', () => {
    expect(cut('abc', 3)).toBe('abc')
    expect(cut('', 0)).toBe('')
  })

  test('a cut never splits a pair, and half pairs are replaced', () => {
    expect(cut('ab🙂cd', 3)).toBe('ab… [cut, 4 more characters]')
    expect(cut('ab🙂cd', 4)).toBe('ab🙂… [cut, 2 more characters]')
    expect(cut('a\ud800', 5)).toBe('a\ufffd')
    expect(cut('a\ud800bcd', 2)).toBe('a\ufffd… [cut, 3 more characters]')
  })
})

describe('the message tells the causes', () => {
  test('from the outside in', () => {
    const root = new Error('disk full')
    const middle = new Error('write failed', { cause: root })
    expect(normalise(new Error('upload failed', { cause: middle })).message).toBe(
      'upload failed: write failed: disk full',
    )
  })

  test('each once, and texts as they are', () => {
    expect(normalise(new Error('same', { cause: new Error('same') })).message).toBe('same')
    expect(normalise(new Error('failed', { cause: 'no paper' })).message).toBe('failed: no paper')
    expect(normalise(new Error('', { cause: new Error('inner') })).message).toBe('inner')
  })

  test('five of them, also of a chain without an end', () => {
    const chain = (length: number): Error =>
      length === 0 ? new Error('0') : new Error(String(length), { cause: chain(length - 1) })
    expect(normalise(chain(9)).message).toBe('9: 8: 7: 6: 5: 4')
    const circle = new Error('round')
    circle.cause = circle
    expect(normalise(circle).message).toBe('round')
  })
})

describe('the code', () => {
  const coded = (fields: object): Error => Object.assign(new Error('x'), fields)

  test.each<[string, unknown, string | null]>([
    ['its own', coded({ code: 'ECONNRESET' }), 'ECONNRESET'],
    ['its cause’s', new TypeError('fetch failed', { cause: coded({ code: 'ECONNREFUSED' }) }), 'ECONNREFUSED'],
    ['an HTTP status', coded({ status: 503 }), 'HTTP_503'],
    ['an HTTP status by its other name', coded({ statusCode: 429 }), 'HTTP_429'],
    ['the cause’s HTTP status', new Error('x', { cause: coded({ status: 404 }) }), 'HTTP_404'],
    ['its own before its status', coded({ code: 'E_MINE', status: 500 }), 'E_MINE'],
    ['a TimeoutError', new DOMException('too slow', 'TimeoutError'), 'timeout'],
    ['a status that is no failure', coded({ status: 302 }), null],
    ['a status that is none', coded({ status: 600 }), null],
    ['a status as text', coded({ status: '503' }), null],
    ['a numeric code', coded({ code: 14 }), null],
    ['an empty code', coded({ code: '' }), null],
    ['none', new Error('x'), null],
    ['none, of a string', 'ECONNRESET', null],
  ])('%s', (_, thrown, code) => {
    expect(normalise(thrown).code).toBe(code)
  })
})

describe('the details', () => {
  test('are the own fields that are not shown elsewhere', () => {
    const error = Object.assign(new Error('x'), { code: 'E', status: 500, orderId: 7, big: 2n ** 64n })
    expect(normalise(error).details).toBe('{"orderId":7,"big":"18446744073709551616"}')
  })

  test('leave out what is nested: a request with its headers is where secrets hide', () => {
    const config = { headers: { authorization: 'Bearer s3cret' } }
    const error = Object.assign(new Error('x'), { orderId: 7, config, request: () => config })
    expect(normalise(error).details).toBe('{"orderId":7}')
    expect(JSON.stringify(normalise(error))).not.toContain('s3cret')
  })

  test('leave out a field that throws', () => {
    const error = Object.assign(new Error('x'), { orderId: 7 })
    Object.defineProperty(error, 'broken', { get: refuse, enumerable: true })
    expect(normalise(error).details).toBe('{"orderId":7}')
  })

  test('are none when there is nothing to tell', () => {
    expect(normalise(new Error('x')).details).toBeNull()
    expect(normalise(Object.assign(new Error('x'), { gone: undefined })).details).toBeNull()
  })

  test('a __proto__ field changes no prototype', () => {
    normalise(JSON.parse('{"__proto__":{"admin":true},"message":"x"}'))
    expect({}).not.toHaveProperty('admin')
  })
})
