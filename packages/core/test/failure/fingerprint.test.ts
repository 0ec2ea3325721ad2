// One cause, one fingerprint, whatever ids, numbers and paths it names; another cause, another one.

import { actionName } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprintOf, topOwnFrame } from '../../src/failure/fingerprint.ts'
import { messageShape } from '../../src/failure/message-shape.ts'
import { RENDER } from '../fixture.ts'
import { growth } from '../timing.ts'

const STACK = ['Error: x', '    at load (/srv/app/src/orders.ts:17:9)', '    at run (/srv/app/src/main.ts:3:1)'].join(
  '\n',
)
const failure = { code: 'E1', name: 'Error', message: 'Order 7 is gone', stack: STACK }
const original = fingerprintOf(RENDER, failure)

describe('messages with one cause look alike', () => {
  test.each([
    ['numbers', 'User 17 of 20 not found', 'User 9002 of 3 not found'],
    ['numbers with marks', 'took 1.5 s at 10:30', 'took 22,75 s at 9:05'],
    [
      'UUIDs',
      'Order 123e4567-e89b-12d3-a456-426614174000 is gone',
      'Order 00000000-0000-7000-8000-FFFFFFFFFFFF is gone',
    ],
    ['ids with a prefix', 'No such customer: cus_9s6XKzkNRiz8i3', 'No such customer: cus_4QFJOjw2pOmAGJ'],
    ['ULIDs', 'Task 01ARZ3NDEKTSV4RRFFQ69G5FAV failed', 'Task 01BX5ZZKBKACTAV9WEVGEMMVRZ failed'],
    ['ids drawn from both cases', 'Job V1StGXR8_Z5jdHi6B-myT is gone', 'Job 9I_hSNtIcvXqOD6fBp8-N is gone'],
    ['short ones', 'session NgPys7H6PcX expired', 'session dQw4w9WgXcQ expired'],
    ['IPv6 addresses with a port', 'no answer from [2001:db8::8a2]:7818', 'no answer from fe80::4ec6:45ba'],
    ['MAC addresses', 'MAC f8:9a:20:60:90:f6 is unknown', 'MAC 84:fc:6e:45:ce:f2 is unknown'],
    ['hashes', 'commit 4b825dc642cb6eb9 missing', 'commit e69de29bb2d1d643 missing'],
    ['short hex behind a name', 'pod eu-c16413 is gone', 'pod eu-7f0a2e is gone'],
    [
      'hex of letters alone behind a name',
      'Plugin crm on host-fecbaa timed out',
      'Plugin crm on host-7f0a2e timed out',
    ],
    ['hex of letters alone of a pod', 'call failed (pod eu-facade)', 'call failed (pod eu-c16413)'],
    ['short hex of letters alone of a node', 'node gpu-node-fade is gone', 'node gpu-node-0a2e is gone'],
    ['short hex that is all digits', 'commit 4b825dc has no build', 'commit 1234567 has no build'],
    ['pods', 'pod checkout-7d9f8b6c5d-xk2vw was evicted', 'pod checkout-5f46b7c9b-zzvwq was evicted'],
    ['hosts', 'web-07.eu-west-1.example.com is down', 'web-12.eu-west-2.example.com is down'],
    ['hosts named by their address', 'lost ip-10-0-3-17', 'lost ip-10-11-200-4'],
    ['ports', 'connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED ::1:6379'],
    ['versions', 'plugin pdf@1.2.3 broke', 'plugin pdf@v2.0.0-rc.1+5f3a0c1 broke'],
    ['durations', 'gone after 1h30m2.5s', 'gone after 350 ms'],
    ['sizes', 'larger than 512Mi', 'larger than 1.5 GB'],
    ['moments', 'expired at 2030-01-02T03:04:05.678Z', 'expired at 2029-12-31 23:59:00+02:00'],
    ['addresses in memory', 'fault at 0x7ffe12', 'fault at 0xA'],
    ['paths', 'no such file: /srv/app/a.json', 'no such file: /home/bob/data/x/y.csv'],
    ['Windows paths', 'no such file: C:\\Users\\ann\\a.txt', 'no such file: D:\\data\\b\\c.txt'],
    ['URLs', 'GET https://a.example/x?y=1 failed', 'GET http://b.example:8080/z failed'],
    ['e-mail addresses', 'bounced: ann@example.com', 'bounced: bob.b+x@mail.example.org'],
    ['single quotes', "Unexpected token 'a'", "Unexpected token 'while'"],
    ['double quotes', 'Field "name" is missing', 'Field "a b c" is missing'],
    ['backticks', 'Column `a` is unknown', 'Column `b` is unknown'],
    ['quotes of different kinds', "Field 'name' is missing", 'Field "size" is missing'],
    ['quotes after an apostrophe', "Couldn't find user 'ann'", "Couldn't find user 'bob'"],
    ['white space', 'a  b\n c', 'a b c'],
    ['numbers before a long text', `Row 9 ${'is bad '.repeat(100)}`, `Row 1000 ${'is bad '.repeat(100)}`],
  ])('%s', (_, one, other) => {
    expect(messageShape(one)).toBe(messageShape(other))
    expect(fingerprintOf(RENDER, { ...failure, message: one })).toBe(
      fingerprintOf(RENDER, { ...failure, message: other }),
    )
  })

  test('any two numbers, any two quoted words, any two UUIDs', () => {
    const of = (count: number, word: string, id: string) => messageShape(`Item ${count} ('${word}', ${id}) is gone`)
    const word = fc.string().filter((text) => !text.includes("'"))
    fc.assert(
      fc.property(fc.nat(), word, fc.uuid(), fc.nat(), word, fc.uuid(), (n1, w1, id1, n2, w2, id2) => {
        expect(of(n1, w1, id1)).toBe(of(n2, w2, id2))
      }),
    )
  })
})

describe('and differ where the cause does', () => {
  test.each([
    ['other words', 'Order 7 is gone', 'Order 7 is late'],
    ['another field name outside quotes', 'width must be 5', 'height must be 5'],
    ['HTTP statuses', 'Request failed with status code 404', 'Request failed with status code 500'],
    ['exit codes', 'exited with code 1', 'exited with code 137'],
    ['codes of databases', 'SQLSTATE 23505: insert failed', 'SQLSTATE 40001: insert failed'],
    ['the job of a machine', 'pod eu-c16413 is gone', 'pod us-c16413 is gone'],
    ['names with a number', 'IPv4 only', 'IPv6 only'],
    ['words that look a little like hex', 'facade failed', 'decade failed'],
    ['such words behind a hyphen', 'user-facade failed', 'user-decade failed'],
    ['short words behind a hyphen', 'the half-dead peer', 'the half-deaf peer'],
    ['names of classes with numbers', 'no EC2InstanceV2Client', 'no S3PutObjectV2'],
    ['names of functions with numbers', 'in getUserByIdV3', 'in parseUtf8String'],
    ['names with hyphens and numbers', 'no Content-Type-v2', 'no Accept-Encoding-v2'],
    ['long words', 'internationalisation failed', 'incomprehensibility failed'],
  ])('%s', (_, one, other) => {
    expect(messageShape(one)).not.toBe(messageShape(other))
  })

  test('the shape is readable', () => {
    expect(messageShape("User 17 ('ann') at https://x.example/a has no file /srv/a/b.txt")).toBe(
      'User <n> (<text>) at <url> has no file <path>',
    )
  })
})

describe('the fingerprint', () => {
  test('is 16 hex digits, and the same each time', () => {
    expect(original).toMatch(/^[0-9a-f]{16}$/)
    expect(fingerprintOf(RENDER, { ...failure })).toBe(original)
  })

  test('is another for another action, code, name, message or frame', () => {
    const others = [
      fingerprintOf(actionName('send'), failure),
      fingerprintOf(RENDER, { ...failure, code: 'E2' }),
      fingerprintOf(RENDER, { ...failure, code: null }),
      fingerprintOf(RENDER, { ...failure, name: 'TypeError' }),
      fingerprintOf(RENDER, { ...failure, message: 'Order 7 is late' }),
      fingerprintOf(RENDER, { ...failure, stack: STACK.replace('load', 'save') }),
      fingerprintOf(RENDER, { ...failure, stack: STACK.replace('orders.ts', 'invoices.ts') }),
      fingerprintOf(RENDER, { ...failure, stack: null }),
    ]
    expect(new Set([original, ...others]).size).toBe(others.length + 1)
  })

  test.each([
    ['line and column', STACK.replace('17:9', '1234:5')],
    ['the directory it is deployed to', STACK.replaceAll('/srv/app', '/opt/releases/2030-01-01')],
    ['frames further down', STACK.replace('at run', 'at start')],
    ['frames of Node and of dependencies above', STACK.replace('    at load', foreignFrames())],
  ])('does not depend on %s', (_, stack) => {
    expect(fingerprintOf(RENDER, { ...failure, stack })).toBe(original)
  })
})

function foreignFrames(): string {
  return [
    '    at parse (node:internal/url:12:3)',
    '    at query (/srv/app/node_modules/pg/lib/client.js:5:5)',
    '    at JSON.parse (<anonymous>)',
    '    at load',
  ].join('\n')
}

describe('topOwnFrame', () => {
  test.each([
    ['a function', '    at load (/app/src/a.ts:1:2)', 'load a.ts'],
    ['a method', '    at Store.load (file:///app/src/a.ts:1:2)', 'Store.load a.ts'],
    ['no function', '    at /app/src/a.ts:1:2', 'a.ts'],
    ['a path of Windows', '    at load (C:\\app\\a.ts:1:2)', 'load a.ts'],
    ['no column', '    at load (/app/a.ts:1)', 'load a.ts'],
    ['only foreign frames', '    at parse (node:internal/url:12:3)', ''],
    ['no frames', 'Error: something', ''],
    ['nothing', '', ''],
  ])('%s', (_, stack, frame) => {
    expect(topOwnFrame(stack)).toBe(frame)
  })

  test('without a stack there is no frame', () => {
    expect(topOwnFrame(null)).toBe('')
  })
})

describe('intruder 9: time in proportion to the length', () => {
  const hostile: readonly [string, string][] = [
    ['words', 'a'],
    ['digits', '1'],
    ['slashes', '/'],
    ['quotes', '\'"`'],
    ['addresses', 'a@a.'],
    ['schemes', 'ab:/'],
    ['numbers with marks', '1.'],
    ['colons', ':1'],
    ['white space', ' '],
    ['parentheses', '    at ('],
    ['names of pods', '-bcdfg1'],
    ['short hex', 'abc1-'],
    ['hex and colons', 'a1::'],
    ['versions', '1.2-rc.'],
    ['requests', 'GET /a '],
    ['codes', 'error code '],
    ['days', 'Mon, Jan 1 '],
    ['ids with a prefix', 'aB_'],
    ['slashes and words', 'a/'],
    ['drawn ids', 'aB3-'],
    ['names of words', 'AbcD1'],
  ]

  test.each(hostile)('a message of 4,000 characters: %s', (_, part) => {
    const text = part.repeat(4_000)
    const times = growth(
      (size) => {
        for (let round = 0; round < 5; round++) messageShape(text.slice(0, size))
      },
      { small: 500, large: 4_000, below: 30 },
    )
    expect(times).toBeLessThan(30)
  })

  test('an id without an end', () => {
    const times = growth(
      (size) => {
        for (let round = 0; round < 5; round++) messageShape(`a_${'1'.repeat(size)}_`)
      },
      { small: 450, large: 3_600, below: 30 },
    )
    expect(times).toBeLessThan(30)
  })

  test.each(hostile)('a message and a stack of a megabyte: %s', (_, part) => {
    const text = part.repeat(1_048_576).slice(0, 1_048_576)
    const times = growth(
      (size) =>
        void fingerprintOf(RENDER, { ...failure, message: text.slice(0, size), stack: `at ${text.slice(0, size)}` }),
      { small: 131_072, large: 1_048_576, below: 30 },
    )
    expect(times).toBeLessThan(30)
  })
})
