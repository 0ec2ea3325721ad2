// Patches of payloads: RFC 6902, by the examples of its appendix, RFC 7396, by those of its own, and the difference that people see.

import { checkedPatch, type JsonPatch, type JsonText, jsonChanges, patchedJson } from '@reprise/core'
import { describe, expect, test } from 'vitest'

const NOBODY_WAITS = { isSpent: false, wait: () => Promise.resolve() }

const patched = async (value: unknown, patch: unknown): Promise<unknown> =>
  JSON.parse(await patchedJson(JSON.stringify(value) as JsonText, checkedPatch(patch), NOBODY_WAITS))

describe('RFC 6902', () => {
  test.each<[string, unknown, JsonPatch, unknown]>([
    ['A.1 adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { baz: 'qux', foo: 'bar' }],
    ['A.2 adds an element', { foo: ['a', 'c'] }, [{ op: 'add', path: '/foo/1', value: 'b' }], { foo: ['a', 'b', 'c'] }],
    ['A.3 removes a member', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['A.4 removes an element', { foo: ['a', 'b'] }, [{ op: 'remove', path: '/foo/0' }], { foo: ['b'] }],
    ['A.5 replaces a value', { a: 1 }, [{ op: 'replace', path: '/a', value: 2 }], { a: 2 }],
    ['A.6 moves a value', { a: { x: 1 }, b: {} }, [{ op: 'move', from: '/a/x', path: '/b/y' }], { a: {}, b: { y: 1 } }],
    ['A.7 moves an element', [1, 2, 3], [{ op: 'move', from: '/0', path: '/2' }], [2, 3, 1]],
    [
      'A.8 tests a value',
      { a: [1, { b: 2 }] },
      [{ op: 'test', path: '/a', value: [1, { b: 2 }] }],
      { a: [1, { b: 2 }] },
    ],
    ['A.10 adds a nested object', { a: 1 }, [{ op: 'add', path: '/c', value: { d: {} } }], { a: 1, c: { d: {} } }],
    ['A.14 reads ~ escapes', { '/': 9, '~1': 10 }, [{ op: 'test', path: '/~01', value: 10 }], { '/': 9, '~1': 10 }],
    ['A.16 adds at the end', { foo: ['a'] }, [{ op: 'add', path: '/foo/-', value: ['b'] }], { foo: ['a', ['b']] }],
    ['copies', { a: { x: 1 } }, [{ op: 'copy', from: '/a', path: '/b' }], { a: { x: 1 }, b: { x: 1 } }],
    ['replaces everything', { a: 1 }, [{ op: 'replace', path: '', value: [] }], []],
  ])('%s', async (_, before, patch, after) => {
    expect(await patched(before, patch)).toEqual(after)
  })

  test.each<[string, unknown, JsonPatch]>([
    ['A.9 a test that fails', { a: 'qux' }, [{ op: 'test', path: '/a', value: 'bar' }]],
    ['A.12 a target that is not there', { foo: 1 }, [{ op: 'add', path: '/baz/bat', value: 1 }]],
    ['a place behind the list', { foo: [1] }, [{ op: 'add', path: '/foo/2', value: 1 }]],
    ['a place with a leading zero', { foo: [1, 2] }, [{ op: 'remove', path: '/foo/01' }]],
    ['a move into itself', { a: { b: 1 } }, [{ op: 'move', from: '/a', path: '/a/b' }]],
    ['what only a prototype has', {}, [{ op: 'remove', path: '/toString' }]],
  ])('refuses %s', async (_, before, patch) => {
    await expect(patched(before, patch)).rejects.toThrow(/The patch/)
  })

  test.each([
    [[]],
    [[{ op: 'jump', path: '/a' }]],
    [[{ op: 'add', path: 'a', value: 1 }]],
    [[{ op: 'add', path: '/a' }]],
    ['x'],
    [null],
  ])('%j is no patch', (patch) => {
    expect(() => checkedPatch(patch)).toThrow(/patch/)
  })
})

test.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b', b: 1 }, { a: null }, { b: 1 }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('RFC 7396: %j with %j is %j', async (before, patch, after) => {
  expect(await patched(before, patch)).toEqual(after)
})

test('a member that is called __proto__ changes no prototype', async () => {
  const text = await patchedJson(
    '{}' as JsonText,
    JSON.parse('[{"op":"add","path":"/__proto__","value":{"isAdmin":true}}]') as JsonPatch,
    NOBODY_WAITS,
  )
  expect(text).toBe('{"__proto__":{"isAdmin":true}}')
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
})

test('copies of copies end where the payload would be too large', async () => {
  const doubling = Array.from({ length: 100 }, (_, index) => ({ op: 'copy', from: '', path: `/a${index}` }))
  await expect(patched({ text: 'x'.repeat(100) }, doubling)).rejects.toMatchObject({ code: 'REPRISE_TOO_LARGE' })
})

test('others have their turn between two operations', async () => {
  let waits = 0
  const turns = { isSpent: true, wait: async () => void waits++ }
  await patchedJson('[]' as JsonText, [{ op: 'add', path: '/-', value: 1 }], turns)
  expect(waits).toBe(3)
})

test('a difference names each place, and what was and will be there', async () => {
  const before = { a: 1, b: { c: [1, 2] }, 'd/e': 0 }
  const after = { a: 1, b: { c: [1] }, 'd/e': 5, f: null }
  expect(await jsonChanges(before, after, NOBODY_WAITS)).toEqual([
    { path: '/b/c/1', before: 2 },
    { path: '/d~1e', before: 0, after: 5 },
    { path: '/f', after: null },
  ])
})

test('each place is looked at once, however deep it stands, and others have their turn', async () => {
  let looks = 0
  const counted = new Proxy(
    Array.from({ length: 1_000 }, () => 0),
    {
      get(list, name) {
        if (name !== 'length') looks++
        return Reflect.get(list, name) as unknown
      },
    },
  )
  const nested = (leaf: unknown): unknown => Array.from({ length: 90 }).reduce((inner: unknown) => ({ inner }), leaf)
  let waits = 0
  const turns = { isSpent: true, wait: async () => void waits++ }
  const young = [...Array.from({ length: 999 }, () => 0), 1]
  const [change] = await jsonChanges(nested(counted), nested(young), turns)
  expect(change).toMatchObject({ path: `${'/inner'.repeat(90)}/999`, before: 0, after: 1 })
  expect(looks).toBeLessThan(2_000)
  expect(waits).toBeGreaterThan(3)
})
