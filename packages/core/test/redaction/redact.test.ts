// Redaction: what is hidden, what is left alone, and that no value or text makes it throw, leak, change its input or take long.

import { createRedactor, InvalidError } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { REDACTED } from '../../src/redaction/redact.ts'
import { isCardNumber } from '../../src/redaction/redact-text.ts'
import { growth } from '../timing.ts'

const redactor = createRedactor()
const SECRET = 'hunter2-Zx81'
// Put together here, so that nobody's scanner takes this file for a leak.
const JWT = ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N'].join('.')
const AWS_KEY = `AKIA${'IOSFODNN7EXAMPLE'}`
const CARD = '4111 1111 1111 1111'

describe('intruder 6: by name', () => {
  test.each([
    'password',
    'Password',
    'PASSWORD',
    'dbPassword',
    'db_password',
    'dbpassword',
    'DB-PASSWORD',
    'passwd',
    'passphrase',
    'secret',
    'clientSecret',
    'client_secret',
    'token',
    'accessToken',
    'access_token',
    'accesstoken',
    'X-Auth-Token',
    'api_key',
    'apiKey',
    'APIKey',
    'API-KEY',
    'apikey',
    'x-api-key',
    'authorization',
    'Proxy-Authorization',
    'cookie',
    'Set-Cookie',
    'privateKey',
    'private_key',
    'aws_secret_access_key',
    'accessKey',
    'creditCard',
    'card_number',
    'cvv',
    'credentials',
    'connectionString',
    'sessionId',
    'jwt',
    'auth',
    'pass',
    'tokens',
  ])('%s', (name) => {
    expect(redactor.value({ [name]: SECRET, other: 1 })).toEqual({ [name]: REDACTED, other: 1 })
    expect(redactor.value([{ deep: { [name]: [SECRET, { a: SECRET }] } }])).toEqual([
      { deep: { [name]: [REDACTED, { a: REDACTED }] } },
    ])
    expect(redactor.text(`failed with ${name}=${SECRET} at once`)).toBe(
      /authorization|cookie/i.test(name)
        ? `failed with ${name}=${REDACTED}`
        : `failed with ${name}=${REDACTED} at once`,
    )
    expect(redactor.text(JSON.stringify({ [name]: SECRET, x: 'y' }))).toBe(JSON.stringify({ [name]: REDACTED, x: 'y' }))
  })

  test.each<[string, unknown]>([
    ['retryToken', 'retry-1a2b3c'],
    ['retry_token', 'retry-1a2b3c'],
    ['idempotencyKey', 'order-77'],
    ['Idempotency-Key', 'order-77'],
    ['dedupeKey', 'order-77'],
    ['fingerprint', '00aa11bb22cc33dd'],
    ['nextPageToken', 'p2'],
    ['max_tokens', 1200],
    ['tokens', 1200],
    ['tokens', { prompt: 12, completion: 30 }],
    ['token_count', 3],
    ['tokenType', 'Bearer'],
    ['password_changed_at', '2030-01-01'],
    ['secretary', 'Ann'],
    ['author', 'Ann'],
    ['key', 'value'],
    ['monkey', 'see'],
    ['passed', 'yes'],
    ['company', 'acme'],
    ['password', null],
    ['secret', true],
    ['acceptedAt', 1_893_456_000_000],
    ['email', 'ann@example.com'],
  ])('%s: %j is left alone', (name, value) => {
    const given = { [name]: value }
    expect(redactor.value(given)).toBe(given)
    const line = `${name}: ${typeof value === 'object' && value !== null ? 'x' : String(value)}`
    expect(redactor.text(line)).toBe(line)
  })

  test('a number is a secret where a password is asked for', () => {
    expect(redactor.value({ pin: 1234, password: 5678 })).toEqual({ pin: REDACTED, password: REDACTED })
  })

  test('keys and allow change what counts', () => {
    const own = createRedactor({ keys: ['Birth-Date', 'iban'], allow: ['sessionId'] })
    const given = { birthDate: 'x', customer_birth_date: 'x', IBAN: 'x', libanese: 'x', session_id: 'x', password: 'x' }
    expect(own.value(given)).toEqual({
      birthDate: REDACTED,
      customer_birth_date: REDACTED,
      IBAN: REDACTED,
      libanese: 'x',
      session_id: 'x',
      password: REDACTED,
    })
    expect(own.text('iban=DE02 sessionId=7')).toBe(`iban=${REDACTED} sessionId=7`)
    expect(own.value({ sessionId: `Bearer ${SECRET}` })).toEqual({ sessionId: `Bearer ${REDACTED}` })
  })
})

describe('intruder 6: by what it looks like', () => {
  test.each<[string, string]>([
    [`Bearer ${SECRET}`, `Bearer ${REDACTED}`],
    ['bearer abcdefghijklmnopqrstuvwxyz', `bearer ${REDACTED}`],
    ['got Basic YW5uOnNlY3JldA== back', `got Basic ${REDACTED} back`],
    [`sent ${JWT} there`, `sent ${REDACTED} there`],
    ['rpr_0123456789abcdef is not valid', `${REDACTED} is not valid`],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', REDACTED],
    [`key ${AWS_KEY}.`, `key ${REDACTED}.`],
    [`ghp_${'a1B2'.repeat(9)}`, REDACTED],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\nxyz\n-----END RSA PRIVATE KEY-----\nrest', `${REDACTED}\nrest`],
    ['-----BEGIN PRIVATE KEY-----\nMIIE cut off', REDACTED],
    ['connect postgres://ann:p%40ss@db:5432/x?a=1', `connect postgres://${REDACTED}@db:5432/x?a=1`],
    ['redis://:p@ss@cache:6379', `redis://${REDACTED}@cache:6379`],
    [`https://${SECRET}@git.example.com/x`, `https://${REDACTED}@git.example.com/x`],
    ['GET https://x.io/a?token=abc,def&page=2 failed', `GET https://x.io/a?token=${REDACTED}&page=2 failed`],
    ['/a?page=2&api_key=abc#top', `/a?page=2&api_key=${REDACTED}`],
    ['https://s3/x?X-Amz-Signature=ab12&X-Amz-Date=1', `https://s3/x?X-Amz-Signature=${REDACTED}&X-Amz-Date=1`],
    [`card ${CARD} refused`, `card ${REDACTED} refused`],
    ['card 4111111111111111 refused', `card ${REDACTED} refused`],
    [`${CARD} 123`, `${REDACTED} 123`],
    [`session-${JWT}.`, `session-${REDACTED}.`],
    ['redis://:pa/ss@cache:6379/0', `redis://${REDACTED}@cache:6379/0`],
    ['5500-0000-0000-0004', REDACTED],
    [`Authorization: Basic a b c\nHost: x`, `Authorization: ${REDACTED}\nHost: x`],
    ['Cookie: a=1; b=2\r\nX: y', `Cookie: ${REDACTED}\r\nX: y`],
    [`{"log":"{\\"password\\":\\"${SECRET}\\",\\"a\\":1}"}`, `{"log":"{\\"password\\":\\"${REDACTED}\\",\\"a\\":1}"}`],
    [`{"error":"password=${SECRET}"}`, `{"error":"password=${REDACTED}"}`],
    [`{ password: '${SECRET}', user: 'ann' }`, `{ password: '${REDACTED}', user: 'ann' }`],
    [`at login (secret="a \\" b") in x.ts:1:2`, `at login (secret="${REDACTED}") in x.ts:1:2`],
    [`DB_PASSWORD=${SECRET} node x`, `DB_PASSWORD=${REDACTED} node x`],
    ['{"pin":1234,"a":5}', `{"pin":"${REDACTED}","a":5}`],
    ['{"tokens":["abc","def"],"a":5}', `{"tokens":"${REDACTED}","a":5}`],
    ['{"password": [\n  "abc"\n], "a": 5}', `{"password": "${REDACTED}", "a": 5}`],
    ['{"credentials":{"user":"ann","pw":"x"},"a":5}', `{"credentials":"${REDACTED}","a":5}`],
    ['token: abc123def', `token: ${REDACTED}`],
  ])('%s', (given, shown) => {
    expect(redactor.text(given)).toBe(shown)
    expect(redactor.value([given])).toEqual([shown])
    expect(redactor.text(shown)).toBe(shown)
  })

  test.each([
    'read ECONNRESET',
    'Unexpected token: else',
    'Unexpected token } in JSON at position 12',
    'Basic authentication failed',
    'The bearer authentication.',
    'used tokens: 1200 of max_tokens=4096',
    'tokens: [1, 2]',
    '{"tokens":{"prompt":12},"usage":[1]}',
    'order 4111111111111112 is unknown',
    'at 1893456000000 ms',
    'id 4111-1111-1111-1111-1111-1111',
    'https://example.com/a?page=2&sort=key',
    'mailto ann@example.com, see http://x.io/@ann',
    'a task-4111111111111111 of many',
    'the connection: reset',
    'password: null',
  ])('%s is left alone', (given) => {
    expect(redactor.text(given)).toBe(given)
  })

  test('a card number is found before other numbers, wherever it ends', () => {
    const digit = fc.constantFrom('1', '2', '3', '4', '5', '6')
    const drawn = fc.array(fc.tuple(fc.constantFrom('', '', ' ', '-'), digit), { minLength: 13, maxLength: 19 })
    /** The longest beginning that ends before a space, or at the end, and is the number of a card. */
    const expected = (text: string): string => {
      for (let end = text.length; end > 0; end = text.lastIndexOf(' ', end - 1)) {
        if (isCardNumber(text.slice(0, end))) return `${REDACTED}${text.slice(end)}`
      }
      return text
    }
    fc.assert(
      fc.property(drawn, (parts) => {
        const text = parts.map(([before, one]) => `${before}${one}`).join('')
        const trimmed = text.replace(/^[ -]/, '')
        expect(redactor.text(`x ${trimmed}`)).toBe(`x ${expected(trimmed)}`)
      }),
      { numRuns: 3_000 },
    )
  })

  test('a card number is one also as a number, and in a name of a member', () => {
    expect(redactor.value({ a: 4_111_111_111_111_111, [`to ${JWT}`]: 1 })).toEqual({
      a: REDACTED,
      [`to ${REDACTED}`]: 1,
    })
  })

  test('a pattern of ours hides the lines in which it is found', () => {
    const own = createRedactor({ patterns: ['(?i)patient \\d+'] })
    expect(own.text('first\nPatient 77 is ill\nlast')).toBe(`first\n${REDACTED}\nlast`)
    expect(own.value({ note: 'patient 5' })).toEqual({ note: REDACTED })
    expect(() => createRedactor({ patterns: ['(a+)+\\1'] })).toThrow(InvalidError)
    expect(() => createRedactor({ key: ['x'] } as never)).toThrow(InvalidError)
  })
})

describe('intruder 6: whatever comes', () => {
  const name = fc.oneof(fc.constantFrom('password', 'apiKey', 'token', 'a', '__proto__', 'toJSON'), fc.string())
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.constant(`Bearer ${SECRET}`)),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.array(fc.tuple(name, tie('tree')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  }))

  test('a value keeps its form, is not changed itself, and is hidden once', () => {
    fc.assert(
      fc.property(tree, (given) => {
        const before = JSON.stringify(given)
        const shown = redactor.value(given)
        expect(JSON.stringify(given)).toBe(before)
        expect(JSON.stringify(shown)).not.toContain(SECRET)
        expect(Array.isArray(shown)).toBe(Array.isArray(given))
        expect(Object.is(shown, given) || JSON.stringify(shown) !== before).toBe(true)
        expect(redactor.value(shown)).toEqual(shown)
      }),
      { numRuns: 500 },
    )
    expect({}).not.toHaveProperty('password')
  })

  test('no text makes it throw', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'password',
        '=',
        ':',
        '"',
        "'",
        '\\',
        ' ',
        '\n',
        'Bearer ',
        'eyJ',
        '://',
        '@',
        '?',
        '&',
        '1234567890',
        '.',
        '-----BEGIN A-----',
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const shown = redactor.text(pieces.join(''))
        expect(typeof shown).toBe('string')
      }),
      { numRuns: 1_000 },
    )
  })

  test('a secret is found wherever it stands in a text', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 30 }),
        fc.constantFrom(`password=${SECRET}`, `"apiKey": "${SECRET}"`, `Bearer ${SECRET}`, `x://u:${SECRET}@h`),
        fc.string({ maxLength: 30 }),
        (before, secret, after) => {
          expect(redactor.text(`${before} ${secret} ${after}`)).not.toContain(SECRET)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('what nests too deep, is too large, has a cycle or throws is not shown, and nothing is thrown', () => {
    let deep: unknown = SECRET
    for (let level = 0; level < 150; level++) deep = [deep]
    expect(JSON.stringify(redactor.value(deep))).toBe(`${'['.repeat(100)}"${REDACTED}"${']'.repeat(100)}`)
    for (let level = 0; level < 5_000; level++) deep = [deep]
    expect(JSON.stringify(redactor.value(deep))).not.toContain(SECRET)
    const cycle: Record<string, unknown> = { a: 1 }
    cycle.self = cycle
    expect(() => JSON.stringify(redactor.value(cycle))).not.toThrow()
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error(SECRET)
        },
      },
    )
    expect(redactor.value({ hostile })).toBe(REDACTED)
    expect(redactor.value(new Date(0))).toBe('1970-01-01T00:00:00.000Z')
    expect(redactor.text(`${'x'.repeat(3_000_000)} password=${SECRET}`)).not.toContain(SECRET)
  })

  test('intruder 9: the time grows with the text and not faster', () => {
    const worst = [
      'password=',
      'a',
      'a.',
      '"',
      '\\"',
      '1',
      '1 ',
      '://',
      'a@',
      'eyJ',
      'eyJaaaaa.',
      'eyJ-',
      'eyJaaaaa-',
      'redis://',
      'sk-',
      'token:1',
      'token:{',
      'token:[1',
      'secret:[',
      'secret:{',
      'Bearer ',
      '-----BEGIN A-----',
      'key ',
      'keykey',
      'token:\\\\\\',
      '?a=',
    ]
    for (const piece of worst) {
      const run = (size: number) => void redactor.text(piece.repeat(size))
      expect([piece, growth(run, { small: 500, large: 5_000, below: 60 }) < 60]).toEqual([piece, true])
    }
  })

  test('intruder 8: a text of letters and dots, without any address, costs as much as one of words', () => {
    const texts = [`eyJ ${'abc defgh '.repeat(5_000)}`, `eyJ ${'abc.defgh.'.repeat(5_000)}`]
    const run = (index: number) => void redactor.text(texts[index] ?? '')
    const RATIO = 3
    expect(growth(run, { small: 0, large: 1, below: RATIO })).toBeLessThan(RATIO)
  })
})
