// Names that are taken and names that are refused, once and for all, at the edge.

import {
  actionName,
  checkedName,
  InvalidError,
  knownName,
  leaseToken,
  NAME_LENGTH_MAX,
  poolName,
  retryToken,
  taskId,
  tenantId,
  workerId,
} from '@reprise/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'

test.each([
  'a',
  'send-invoice',
  'billing.invoice:send/v2',
  'Größe',
  '任务',
  '👩‍🚀',
  '👩🏽‍🚀 ❤️',
  '<b>bold</b>',
  'a b',
  '...',
  'v1..v2',
  '.hidden',
  '100%',
  'x'.repeat(NAME_LENGTH_MAX),
])('%j is a name', (name) => {
  expect(checkedName('name', name)).toBe(name)
})

test('a name from before is known, though it could not be given today', () => {
  expect(knownName('name', 'adm\u200bin')).toBe('adm\u200bin')
  expect(() => knownName('name', 'a\nb')).toThrow('control character')
  expect(() => knownName('name', '..')).toThrow('climbs')
})

test.each<[string, unknown, string]>([
  ['nothing', '', 'must not be empty'],
  ['one character too many', 'x'.repeat(NAME_LENGTH_MAX + 1), 'has 201 characters; at most 200'],
  ['NUL', 'a\u0000b', 'control character'],
  ['a line feed', 'a\nb', 'control character'],
  ['a carriage return', 'a\rb', 'control character'],
  ['an escape sequence', '\u001b[31mred', 'control character'],
  ['DEL', 'a\u007f', 'control character'],
  ['a C1 control', 'a\u0085', 'control character'],
  ['a line separator', 'a\u2028', 'control character'],
  ['a paragraph separator', 'a\u2029', 'control character'],
  ['a mark that turns the direction of writing', 'a\u202eb', 'nobody sees (U+202e)'],
  ['an isolate', 'a\u2066b', 'nobody sees (U+2066)'],
  ['a zero-width space', 'adm\u200bin', 'nobody sees (U+200b)'],
  ['a joiner that joins nothing', 'admin\u200d', 'nobody sees (U+200d)'],
  ['a byte order mark', '\ufeffadmin', 'nobody sees (U+feff)'],
  ['a soft hyphen', 'ad\u00admin', 'nobody sees (U+ad)'],
  ['a filler', 'admin\u3164', 'nobody sees (U+3164)'],
  ['a tag', 'admin\u{e0041}', 'nobody sees (U+e0041)'],
  ['a selector after a letter', 'admin\ufe0f', 'nobody sees (U+fe0f)'],
  ['a lone high surrogate', 'a\ud800', 'half of a surrogate pair'],
  ['a lone low surrogate', '\udc00a', 'half of a surrogate pair'],
  ['a number', 7, 'must be a string, not number'],
  ['null', null, 'must be a string'],
  ['undefined', undefined, 'must be a string, not undefined'],
])('refuses %s', (_, value, message) => {
  expect(() => checkedName('name', value)).toThrow(InvalidError)
  expect(() => checkedName('name', value)).toThrow(message)
})

test.each([
  '.',
  '..',
  '../etc/passwd',
  'a/../b',
  'a/..',
  '..\\windows',
  'a\\..\\b',
  'a\\..',
  '%2e%2e',
  '%2E%2E/etc',
  '.%2e/x',
  'a/%2e%2e',
  '..%2fetc',
  'a%5c..',
  '%2e',
])('refuses the climbing path %j', (name) => {
  expect(() => checkedName('name', name)).toThrow("must not contain a path that climbs ('..')")
})

test('each kind of name says what it is when it is refused', () => {
  expect(() => taskId('')).toThrow('The task id must')
  expect(() => actionName('')).toThrow('The action name must')
  expect(() => poolName('')).toThrow('The pool name must')
  expect(() => tenantId('')).toThrow('The tenant must')
  expect(() => workerId('')).toThrow('The worker id must')
  expect(() => retryToken('')).toThrow('The retry token must')
  expect(() => leaseToken('')).toThrow('The lease token must')
})

/** The name, or the value itself when it was refused in the proper way. */
function answer(value: unknown): unknown {
  try {
    return checkedName('name', value)
  } catch (error) {
    if (error instanceof InvalidError) return value
    throw error
  }
}

test('a name is either given back unchanged or refused with InvalidError', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string({ unit: 'binary' })), (value) => {
      expect(answer(value)).toBe(value)
    }),
  )
})
