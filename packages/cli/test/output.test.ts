// What people and programs get to see: tables, JSON, colours, errors.

import { ERRORS, type ErrorCode, NotFoundError, RequestError } from '@reprise/core'
import { describe, expect, test } from 'vitest'
import { painter } from '../src/output/colours.ts'
import { CommandError, errorText, exitCodeOf } from '../src/output/errors.ts'
import { EXIT_OF_CODE } from '../src/output/exit-codes.ts'
import { type Format, Output } from '../src/output/output.ts'
import { cutTo, plain, widthOf, wrapTo } from '../src/output/plain-text.ts'
import { progressBar } from '../src/output/progress.ts'
import { tableText } from '../src/output/table.ts'
import { relativeTime } from '../src/output/times.ts'

const bare = painter({ off: true, env: {}, isTerminal: false })

describe('tables', () => {
  const rows = [
    { id: 'a', count: 5, note: 'short' },
    { id: '日本語', count: 12_345, note: 'a note that is far too long for this terminal' },
  ]
  const columns = [
    { title: 'ID', value: ({ id }: (typeof rows)[number]) => id },
    { title: 'COUNT', value: ({ count }: (typeof rows)[number]) => count, right: true },
    { title: 'NOTE', value: ({ note }: (typeof rows)[number]) => note, flexible: true },
  ]

  test('are aligned, also under wide characters', () => {
    expect(tableText(rows, columns, { width: null, paint: bare })).toBe(
      [
        'ID      COUNT  NOTE',
        'a           5  short',
        '日本語  12345  a note that is far too long for this terminal',
        '',
      ].join('\n'),
    )
  })

  test('are as wide as the terminal, and no wider', () => {
    const text = tableText(rows, columns, { width: 30, paint: bare })
    expect(
      text
        .split('\n')
        .map(widthOf)
        .every((width) => width <= 30),
    ).toBe(true)
    expect(text).toContain('日本語  12345  a note that is…')
  })

  test('never cut what people copy into the next command, while anything else can give way', () => {
    const id = '4080e812-b022-4aa0-a806-cf036309b038'
    const long = [{ id, by: 'token:somebody-with-a-long-name', note: 'a note that is far too long' }]
    const text = tableText(
      long,
      [
        { title: 'ID', value: (row) => row.id },
        { title: 'BY', value: (row) => row.by },
        { title: 'NOTE', value: (row) => row.note, flexible: true },
      ],
      { width: 60, paint: bare },
    )
    expect(text).toContain(id)
    expect(text.split('\n').every((line) => widthOf(line) <= 60)).toBe(true)
  })

  test('show escapes, line ends and marks of direction in values as text', () => {
    const hostile = 'a\u001b[31mred\u0007\nb\u202ec\u009b1m\u200b'
    const text = tableText([hostile], [{ title: 'X', value: (value) => value }], { width: null, paint: bare })
    expect(text).toBe('X\na\\u001b[31mred\\u0007\\nb\\u202ec\\u009b1m\\u200b\n')
    expect(plain('plain text – as it is')).toBe('plain text – as it is')
  })

  test('nothing is shown as a dash', () => {
    expect(tableText([null], [{ title: 'X', value: () => null }], { width: null, paint: bare })).toBe('X\n-\n')
  })

  test('a last column that wraps goes on below itself, and nothing of it is lost', () => {
    const wrapping = columns.map((column) => (column.title === 'NOTE' ? { ...column, wraps: true } : column))
    expect(tableText(rows, wrapping, { width: 30, paint: bare })).toBe(
      [
        'ID      COUNT  NOTE',
        'a           5  short',
        '日本語  12345  a note that is',
        '               far too long',
        '               for this',
        '               terminal',
        '',
      ].join('\n'),
    )
    expect(wrapTo('see {"a":1,"b":22} 日本語日本語', 8)).toEqual(['see', '{"a":1,', '"b":22}', '日本語日', '本語'])
    expect(wrapTo('日本', 1).join('')).toBe('日本')
  })

  test('on a narrow terminal, columns that may do so stand on a second line, and an empty one not at all', () => {
    const moving = columns.map((column) => (column.title === 'ID' ? column : { ...column, below: true }))
    const narrow = tableText([...rows, { id: 'c', count: 1, note: '' }], moving, { width: 30, paint: bare })
    expect(narrow).toBe('ID\na\n  5 · short\n日本語\n  12345 · a note that is far …\nc\n  1\n')
    expect(tableText(rows, moving, { width: 120, paint: bare })).toContain('日本語  12345  a note')
  })

  test('are cut between characters, never inside one', () => {
    expect(cutTo('👩‍👩‍👧‍👦 family', 4)).toBe('👩‍👩‍👧‍👦 …')
    expect(widthOf('e\u0301')).toBe(1)
  })
})

describe('colours', () => {
  test.each([
    [{ off: false, env: {}, isTerminal: true }, true],
    [{ off: false, env: {}, isTerminal: false }, false],
    [{ off: false, env: { NO_COLOR: '1' }, isTerminal: true }, false],
    [{ off: false, env: { FORCE_COLOR: '1' }, isTerminal: false }, true],
    [{ off: false, env: { FORCE_COLOR: '0' }, isTerminal: true }, false],
    [{ off: true, env: { FORCE_COLOR: '1' }, isTerminal: true }, false],
    [{ off: false, env: { TERM: 'dumb' }, isTerminal: true }, false],
  ])('with %j: %s', (wish, coloured) => {
    expect(painter(wish)('red', 'x') !== 'x').toBe(coloured)
  })
})

describe('formats', () => {
  function output(format: Format, quiet = false, isTTY = false) {
    const stdout: string[] = []
    const stderr: string[] = []
    const made = new Output({
      stdout: { write: (text) => stdout.push(text), isTTY },
      stderr: { write: (text) => stderr.push(text) },
      format,
      quiet,
      noColour: true,
      env: {},
      now: () => 0,
    })
    return { made, stdout: () => stdout.join(''), stderr: () => stderr.join('') }
  }
  const items = [{ id: 1 }, { id: 2 }]
  const columns = [{ title: 'ID', value: ({ id }: { id: number }) => id }]

  test('json is one document, jsonl a line for each', () => {
    const json = output('json')
    json.made.list(items, columns, 'none')
    expect(JSON.parse(json.stdout())).toEqual(items)
    const lines = output('jsonl')
    lines.made.list(items, columns, 'none')
    expect(lines.stdout()).toBe('{"id":1}\n{"id":2}\n')
  })

  test('with none, programs get an empty list and people a sentence on standard error', () => {
    const json = output('json')
    json.made.list([], columns, 'none')
    expect(json.stdout()).toBe('[]\n')
    const people = output('table')
    people.made.list([], columns, 'There is none.')
    expect([people.stdout(), people.stderr()]).toEqual(['', 'There is none.\n'])
  })

  test.each<Format>(['json', 'jsonl'])('%s on a terminal is the same value, with nothing that it obeys', (format) => {
    const value = { note: 'a\u001b[2J\u009b31m\u202e\u200b\u{e0041}\u007f\n👩‍🚀 ok' }
    const [terminal, pipe] = [output(format, false, true), output(format)]
    for (const { made } of [terminal, pipe]) {
      made.one(value, () => undefined)
      made.json(JSON.stringify(value))
    }
    const shown = terminal.stdout()
    expect(shown).not.toMatch(/[\u007f-\u009f\u200b\u202e\u{e0041}]/u)
    expect(shown).toContain('👩‍🚀 ok')
    const values = (text: string): unknown[] => text.split(/\n(?=\{)/).map((one) => JSON.parse(one) as unknown)
    expect(values(shown)).toEqual([value, value])
    expect(values(pipe.stdout())).toEqual([value, value])
    expect(pipe.stdout()).toContain('\u202e')
  })

  test('--quiet keeps notes to itself, but no warning', () => {
    const { made, stderr } = output('table', true)
    made.note('by the way')
    made.warn('careful')
    expect(stderr()).toBe('warning: careful\n')
  })
})

describe('progress', () => {
  test('is drawn on a terminal only', () => {
    const drawn: string[] = []
    const sink = (isTerminal: boolean) => ({ isTerminal, columns: 80, write: (text: string) => void drawn.push(text) })
    const none = progressBar('Redriving', sink(false), () => 0)
    none.update(1, 2)
    none.end()
    expect(drawn).toEqual([])
    const bar = progressBar('Redriving', sink(true), () => 0)
    bar.update(1, 2)
    bar.end()
    expect(drawn.join('')).toContain('50% 1/2')
  })
})

describe('errors and exit codes', () => {
  test('every code of the registry has one', () => {
    const codes = Object.keys(ERRORS) as ErrorCode[]
    expect(codes.filter((code) => EXIT_OF_CODE[code] === undefined)).toEqual([])
  })

  test.each([
    ['REPRISE_INVALID', 2],
    ['REPRISE_NOT_FOUND', 3],
    ['REPRISE_UNAUTHENTICATED', 4],
    ['REPRISE_FORBIDDEN', 4],
    ['REPRISE_CONFLICT', 5],
    ['REPRISE_NOT_RETRYABLE', 5],
    ['REPRISE_TASK_FAILED', 6],
    ['REPRISE_TIMED_OUT', 7],
    ['REPRISE_STORE_FAILED', 1],
  ] as const)('%s is %i', (code, exitCode) => {
    expect(exitCodeOf(new RequestError(code, 'x'))).toBe(exitCode)
  })

  const file = { write: () => true }

  test('an error is broken at words where the terminal ends', () => {
    const error = new CommandError('There is no such thing at all.', { hint: 'Look for another one.' })
    expect(errorText(error, bare, { ...file, isTTY: true, columns: 24 })).toBe(
      'error: There is no such\nthing at all.\n  hint: Look for another\n        one.\n',
    )
  })

  test('an error says what happened, its code and what to do, and can not paint the terminal', () => {
    expect(errorText(new NotFoundError('task', 'x\u001b[2J'), bare, file)).toBe(
      "error: There is no task 'x\\u001b[2J'.\n  code: REPRISE_NOT_FOUND\n",
    )
    expect(errorText(new CommandError('Nothing there.', { hint: 'Go on.' }), bare, file)).toBe(
      'error: Nothing there.\n  hint: Go on.\n',
    )
    expect(exitCodeOf(new Error('x'))).toBe(1)
  })
})

test.each([
  [null, '-'],
  [1_000_000, 'now'],
  [1_000_000 - 90_000, '1m 30s ago'],
  [1_000_000 + 7_200_000, 'in 2h'],
])('the moment %s is %s', (at, words) => {
  expect(relativeTime(at, 1_000_000)).toBe(words)
})
