// The query language: what a line means, that it can be written back, and what is said about mistakes.

import { readFileSync } from 'node:fs'
import {
  InvalidError,
  isRepriseError,
  matches,
  parseQuery,
  queryWarnings,
  TASK_STATUSES,
  type Task,
  taskId,
  workerId,
} from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completions } from '../../src/search/query-completions.ts'
import {
  type AmountField,
  formatQuery,
  type NameField,
  QUERY_FIELDS,
  QUERY_REASONS,
  type QueryCondition,
  STATUS_WORDS,
  type TaskFilter,
} from '../../src/search/query-language.ts'
import { QUERY_LENGTH_MAX, QUERY_TERMS_MAX, QueryError } from '../../src/search/query-syntax.ts'
import { failureWith, NOW, running, taskWith } from '../fixture.ts'
import { growth } from '../timing.ts'

const dead = (over: Parameters<typeof failureWith>[0] = {}): Task['state'] => ({
  status: 'dead',
  at: NOW,
  reason: 'retries_exhausted',
  failure: failureWith(over),
})
const waiting: Task['state'] = {
  status: 'waiting',
  since: NOW,
  dueAt: NOW + 60_000,
  reason: 'rate_limited',
  quota: null,
}
const lastWorker = { worker: workerId('w1'), version: '2.0', host: 'eu-1' }
const holds = (query: string, over: Record<string, unknown> = {}): boolean =>
  matches(parseQuery(query), taskWith(over), NOW)

/** What is said against it; null if it can be read. */
function refusalOf(query: string): Error | null {
  try {
    parseQuery(query)
    return null
  } catch (error) {
    return error as Error
  }
}

describe('a line of the query language finds', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['status:dead', { state: dead() }, {}],
    ['status:FAILED', { state: dead() }, { state: running }],
    ['status:live', { state: running }, { state: dead() }],
    ['status:ended', { state: dead() }, { state: waiting }],
    ['status:dead,waiting', { state: waiting }, { state: running }],
    ['-status:dead', { state: waiting }, { state: dead() }],
    ['not status:dead', { state: waiting }, { state: dead() }],
    ['action:invoice.*', { action: 'invoice.send' }, { action: 'invoices' }],
    ['action:a,b', { action: 'b' }, { action: 'ab' }],
    ['action:"a,b c"', { action: 'a,b c' }, { action: 'a' }],
    ['action="say \\"hi\\" \\\\"', { action: 'say "hi" \\' }, { action: 'say' }],
    ['tenant:acme pool:gpu', { tenant: 'acme', pool: 'gpu' }, { tenant: 'acme', pool: 'cpu' }],
    ['id:task-*', { id: 'task-9' }, { id: 'other' }],
    ['worker:w*', { lastWorker }, { state: running }],
    ['version:2.*', { lastWorker }, { lastWorker: { ...lastWorker, version: '1.0' } }],
    ['host:eu-1', { lastWorker }, { lastWorker: { ...lastWorker, host: null } }],
    ['-version:2.0', { lastWorker: null }, { lastWorker }],
    ['reason:rate_limited', { state: waiting }, { state: running }],
    ['reason:retries_exhausted', { state: dead() }, { state: waiting }],
    ['reason:conn*', { state: dead() }, { state: waiting }],
    ['code:ECONN*', { state: dead() }, { state: waiting }],
    ['fingerprint:0011223344556677', { state: dead() }, { state: dead({ fingerprint: 'ff' as never }) }],
    ['label.team:core', { labels: { team: 'core' } }, { labels: { team: 'other' } }],
    ['label:team=co*', { labels: { team: 'core' } }, {}],
    ['label:team', { labels: { team: 'any' } }, { labels: { tea: 'm' } }],
    ['label:"a b=c d",x=y', { labels: { 'a b': 'c d' } }, { labels: { x: 'z' } }],
    ['label.toString:*', { labels: { toString: 'x' } }, {}],
    ['retry_token:retry-1', {}, { retryToken: 'other' }],
    ['dedupeKey:k', { dedupeKey: 'k' }, {}],
    ['attempt>=3', { attempt: 3 }, { attempt: 2 }],
    ['attempt:1,2', { attempt: 2 }, { attempt: 3 }],
    ['failures>2', { failures: 3 }, { failures: 2 }],
    ['losses<1', { losses: 0 }, { losses: 1 }],
    ['generation=2', { generation: 2 }, {}],
    ['priority<=5', { priority: 5 }, { priority: 6 }],
    ['age>1h', { acceptedAt: NOW - 3_600_001 }, { acceptedAt: NOW - 3_600_000 }],
    ['age<1h30m', { acceptedAt: NOW - 5_399_999 }, { acceptedAt: NOW - 5_400_000 }],
    ['due<5m', { state: waiting }, {}],
    ['due>5m', { state: { ...waiting, dueAt: NOW + 300_001 } }, { state: waiting }],
    ['-due<5m', {}, { state: waiting }],
    ['died<10m', { state: { ...dead(), at: NOW - 599_999 } }, { state: { ...dead(), at: NOW - 600_000 } }],
    ['died>1h', { state: { ...dead(), at: NOW - 3_600_001 } }, { state: { status: 'cancelled', at: 0 } }],
    ['ended>1h', { state: { status: 'cancelled', at: NOW - 3_600_001 } }, { state: waiting }],
    ['ended<1h', { state: { ...dead(), at: NOW } }, { state: { status: 'discarded', at: NOW - 3_600_000 } }],
    ['"connection RESET"', { state: dead({ message: 'Connection reset by peer' }) }, { state: waiting }],
    ['econnreset', { state: dead() }, {}],
    ['team=core', { labels: { team: 'core' } }, {}],
    ['"not"', { labels: { a: 'not' } }, {}],
    ['task-1', {}, { id: 'x' }],
    ['12:30', { labels: { at: '12:30' } }, {}],
    [
      'status:failed action:invoice.* tenant:acme age>1h "connection reset"',
      {
        state: dead({ message: 'connection reset' }),
        action: 'invoice.send',
        tenant: 'acme',
        acceptedAt: NOW - 4_000_000,
      },
      { state: dead({ message: 'connection reset' }), action: 'invoice.send', tenant: 'acme' },
    ],
  ])('%s', (query, yes, no) => {
    expect(holds(query, yes)).toBe(true)
    expect(holds(query, no)).toBe(false)
  })

  test('everything, if it says nothing', () => {
    expect(parseQuery(' \t\n')).toEqual({ terms: [] })
    expect(holds('')).toBe(true)
  })

  test('the worker of the latest attempt, whatever became of the task', () => {
    expect(holds('worker:w1', { lastWorker, state: waiting })).toBe(true)
    expect(holds('worker:w1', { lastWorker: { ...lastWorker, worker: workerId('w2') }, state: waiting })).toBe(false)
  })
})

describe('a mistake is named with its place, what was found and what is allowed', () => {
  test.each<[string, number, RegExp]>([
    ['stauts:dead', 0, /no field 'stauts'\. Did you mean 'status'\? Known are: status, id/],
    ['action:a tennant:b', 9, /Did you mean 'tenant'/],
    ['https://example.com', 0, /no field 'https'.*put it in quotes/],
    ['foo.bar:x', 0, /no field 'foo\.bar'/],
    ['status.x:dead', 0, /no field 'status\.x'/],
    ['status:daed', 7, /no status 'daed'\. Did you mean 'dead'\? Known are: queued, .*failed, live, ended/],
    ['status:dead,*', 12, /no status '\*'/],
    ['reason:timout', 7, /Did you mean 'timeout'/],
    ['status: dead', 7, /a value is missing after 'status:'; found 'a space'/],
    ['status:', 7, /found the end/],
    ['status:dead,', 12, /a value is missing/],
    ['status>dead', 0, /can not be compared/],
    ['status!=dead', 0, /Write -status:/],
    ['age:1h', 0, /age is compared/],
    ['age>soon', 4, /'soon' is no length of time/],
    ['age>1000', 4, /no length of time/],
    ['age>1h,2h', 7, /takes one value/],
    ['attempt>=x', 9, /whole number/],
    ['attempt>-1', 8, /whole number/],
    ['label:=x', 6, /is no label/],
    ['label:x=', 6, /is no label/],
    ['a or b', 2, /status:dead,waiting/],
    ['a AND b', 2, /all terms hold together/],
    ['a -', 2, /nothing follows '-'/],
    ['not', 0, /nothing follows 'not'/],
    ['--force', 1, /quote it/],
    ['not -a', 4, /negated once/],
    ['"open', 0, /not closed/],
    ['""', 0, /nothing between/],
    ['"a"b', 3, /comes a space, not 'b'/],
    ['"a",b', 3, /comes a space/],
    ['a"b"', 1, /middle of a word/],
    ['action:a"b"', 8, /middle of a word/],
    ['"\\n"', 0, /not closed/],
    ['x'.repeat(QUERY_LENGTH_MAX + 1), QUERY_LENGTH_MAX, /at most 1000 are allowed/],
    ['a '.repeat(QUERY_TERMS_MAX + 1), QUERY_TERMS_MAX * 2, /at most 32 terms/],
  ])('%s', (query, position, words) => {
    const read = () => parseQuery(query)
    expect(read).toThrow(QueryError)
    expect(read).toThrow(words)
    expect(read).toThrow(expect.objectContaining({ position, code: 'REPRISE_INVALID' }))
    expect(read).toThrow(`At character ${position + 1} of the query`)
  })

  test('intruder 10: what was found is shown in one short line', () => {
    const { message } = refusalOf(`status:"\u001b[31m${'x\r\n'.repeat(50)}"`) ?? new Error('\0')
    expect(message).not.toMatch(/\p{Cc}/u)
    expect(message.length).toBeLessThan(300)
  })

  test('what is no text at all is refused', () => {
    expect(() => parseQuery(7 as never)).toThrow(InvalidError)
  })
})

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })
const someOf = <T>(values: readonly T[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 })
const fieldsOf = (...kinds: string[]) =>
  Object.entries(QUERY_FIELDS)
    .filter(([, { kind }]) => kinds.includes(kind))
    .map(([field]) => field)
const nameFields = fieldsOf('name').filter((field) => field !== 'reason') as NameField[]
const amount = fc.oneof(
  fc.nat(),
  fc.integer({ min: 0, max: 1_000 }).map((hours) => hours * 3_600_000),
)
const labelName = text.filter((name) => !name.includes('='))

const condition: fc.Arbitrary<QueryCondition> = fc.oneof(
  someOf(TASK_STATUSES).map((some) => ({
    kind: 'status' as const,
    statuses: TASK_STATUSES.filter((status) => some.includes(status)),
  })),
  fc.record({
    kind: fc.constant('name' as const),
    field: fc.constantFrom(...nameFields),
    globs: fc.array(text, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('name' as const),
    field: fc.constant('reason' as const),
    globs: someOf(QUERY_REASONS),
  }),
  fc.record({
    kind: fc.constant('label' as const),
    labels: fc.array(fc.record({ name: labelName, glob: text }), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('label' as const),
    labels: fc
      .tuple(fc.constantFrom('team', 'a/b.c-d'), fc.array(text, { minLength: 1, maxLength: 3 }))
      .map(([name, globs]) => globs.map((glob) => ({ name, glob }))),
  }),
  fc.record({
    kind: fc.constant('equal' as const),
    field: fc.constantFrom(...(fieldsOf('number') as AmountField[])),
    amounts: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('compare' as const),
    field: fc.constantFrom(...(fieldsOf('number', 'time') as AmountField[])),
    operator: fc.constantFrom('<', '<=', '>', '>='),
    amount,
  }),
  fc.record({
    kind: fc.constant('text' as const),
    text: fc.oneof(text, fc.constantFrom('not', 'AND', 'or', '-', 'a:b')),
  }),
)
const filter: fc.Arbitrary<TaskFilter> = fc.record({
  terms: fc.array(fc.record({ negated: fc.boolean(), condition }), { maxLength: 6 }),
})

describe('whatever the filter or the text', () => {
  test('a filter that is written can be read again', () => {
    fc.assert(
      fc.property(filter, (wanted) => {
        const line = formatQuery(wanted)
        fc.pre(line.length <= QUERY_LENGTH_MAX)
        expect(parseQuery(line)).toEqual(wanted)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a text is read into a filter that is written one way, or refused as not valid', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...Object.keys(QUERY_FIELDS),
        ':',
        '>',
        '<=',
        '!=',
        '"',
        '\\',
        ',',
        ' ',
        '-',
        'not ',
        '*',
        'dead',
        '1h',
        '=',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
    )
    const line = fc.oneof(
      fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join('')),
      fc.string({ unit: 'binary', maxLength: 60 }),
    )
    let read = 0
    fc.assert(
      fc.property(line, (given) => {
        const refusal = refusalOf(given)
        expect(refusal === null || isRepriseError(refusal, 'REPRISE_INVALID')).toBe(true)
        if (refusal !== null) return
        read++
        const parsed = parseQuery(given)
        const written = formatQuery(parsed)
        expect(parseQuery(written)).toEqual(parsed)
        expect(formatQuery(parseQuery(written))).toBe(written)
        expect(typeof matches(parsed, taskWith({ id: taskId('x') }), NOW)).toBe('boolean')
      }),
      { numRuns: 3_000 },
    )
    expect(read).toBeGreaterThan(100)
  })

  test('intruder 9: reading takes no longer than the text is long', () => {
    const worst = ['a.', 'a', '-', '"', '\\', 'label.', ',', 'age>', ' '].map((piece) => (size: number) => {
      refusalOf(piece.repeat(size).slice(0, QUERY_LENGTH_MAX))
    })
    for (const run of worst) expect(growth(run, { small: 10, large: 1_000, below: 2_000 })).toBeLessThan(2_000)
  })
})

test('docs/query-language.md names every field and every word for statuses', () => {
  const page = readFileSync(new URL('../../../../docs/query-language.md', import.meta.url), 'utf8')
  const named = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, word]) => word)
  expect(named).toEqual([...Object.keys(QUERY_FIELDS), ...Object.keys(STATUS_WORDS)])
  const [line = ''] = page.match(/^status:failed .*$/m) ?? []
  expect(parseQuery(line).terms).toHaveLength(5)
})

describe('completions', () => {
  const offered = (before: string) => completions(before).options.map((option) => option.text)
  test('offer fields that begin so', () => {
    expect(offered('status:dead fa')).toEqual(['failures>'])
    expect(completions('status:dead -fin')).toEqual({
      from: 13,
      options: [{ text: 'fingerprint:', hint: QUERY_FIELDS.fingerprint.hint }],
    })
    expect(offered('')).toHaveLength(Object.keys(QUERY_FIELDS).length)
  })
  test('offer values that the field knows', () => {
    expect(completions('status:dead,wa')).toMatchObject({ from: 12, options: [{ text: 'waiting' }] })
    expect(offered('reason:time')).toEqual(['timeout'])
    expect(offered('action:x')).toEqual([])
  })
  test('offer nothing inside of quotes, nor for what is no field', () => {
    expect(offered('"sta')).toEqual([])
    expect(offered('12')).toEqual([])
    expect(offered('"a" sta')).toEqual(['status:'])
  })
  test('each can be read once it is finished', () => {
    for (const { text: start } of completions('').options) {
      const value =
        { 'status:': 'dead', 'reason:': 'timeout', 'age>': '1h', 'due>': '1h', 'died>': '1h', 'ended>': '1h' }[start] ??
        '1'
      expect(parseQuery(`${start}${value}`).terms).toHaveLength(1)
    }
  })
  test('whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (before) => {
        const { from } = completions(before)
        expect(from).toBeLessThanOrEqual(before.length)
      }),
    )
  })
})

describe('a term in quotes', () => {
  test.each([
    ['status:dead "not code:HTTP_500"', 'not code:HTTP_500'],
    ['"-code:HTTP_500"', '-code:HTTP_500'],
    ['"code:HTTP_500"', 'code:HTTP_500'],
    ['"timed out age>1h"', 'age>1h'],
    ['code:"HTTP_500 or code:HTTP_502"', 'code:HTTP_502'],
    ['label.team:"core -label.team:web"', '-label.team:web'],
  ])('%s is warned about', (query, term) => {
    expect(queryWarnings(parseQuery(query))).toEqual([expect.stringContaining(`If '${term}' is a term`)])
  })

  test.each([
    'status:dead not code:HTTP_500',
    '-"connection reset"',
    '"error: no such file"',
    '"see http://localhost:80"',
    'action:"send invoice"',
    '"a -> b"',
  ])('%s is as it was meant', (query) => {
    expect(queryWarnings(parseQuery(query))).toEqual([])
  })

  test('is warned about once, in a sentence of bounded length', () => {
    const filter = parseQuery(`"x id:1" "x id:1" ${'"code:y '.padEnd(500, 'z')}"`)
    expect(queryWarnings(filter)).toHaveLength(2)
    for (const warning of queryWarnings(filter)) expect(warning.length).toBeLessThan(300)
  })
})
