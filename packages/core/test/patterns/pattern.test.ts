// Patterns: what they match, what is refused, and that no text makes one slow.

import { InvalidError, Pattern } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PATTERN_STATES_MAX, stepBudget } from '../../src/patterns/pattern.ts'

describe('a pattern matches as the regular expression of the same text does', () => {
  test.each<[string, readonly string[]]>([
    ['timed out', ['the request timed out', 'timed  out', 'TIMED OUT']],
    ['^code \\d+$', ['code 42', 'code 4x', 'a code 42', 'code ']],
    ['a.c', ['abc', 'a\nc', 'a\u2028c', 'ac', 'a😀c']],
    ['[a-f0-9_]{4,6}', ['beef', 'bee', 'g_00ff1', 'xyz']],
    ['[^a-z]', ['abc', 'abC', '']],
    ['[\\w.-]+@[\\w-]+', ['mail ann@example', '@example', 'ann@']],
    ['[\\]\\\\^-]', [']', '\\', '^', '-', 'a']],
    ['[]', ['', 'a']],
    ['[^]', ['', 'a']],
    ['colou?r', ['color', 'colour', 'colouur']],
    ['(?:rate|quota) (limit|exceeded)', ['rate limit', 'quota exceeded', 'rate', 'quota limit']],
    ['x*', ['', 'y', 'xxx']],
    ['(a|b|)c', ['ac', 'bc', 'c', 'd']],
    ['\\bcat\\b', ['cat', 'a cat.', 'concat', 'cats', 'cat_']],
    ['\\Bcat', ['cat', 'concat']],
    ['a{2}', ['a', 'aa']],
    ['^a{2,}$', ['a', 'aa', 'aaaaa']],
    ['^a{0,2}$', ['', 'a', 'aa', 'aaa']],
    ['^(ab){1,2}?$', ['ab', 'abab', 'ababab']],
    ['\\s\\S\\D\\W', [' a-.', ' a1.', '\u3000x  ']],
    ['\\x41\\u0042\\t\\$', ['AB\t$', 'AB']],
    ['^$', ['', 'a']],
    ['a$|^b', ['ba', 'ab', 'aab', 'xb']],
    ['(x$)|(y+$)', ['axby', 'yyyx', 'xyz']],
    ['(?:)*a', ['a', '']],
    ['(a*)*b', ['aab', 'aaa']],
  ])('%s', (source, texts) => {
    const pattern = new Pattern(source)
    for (const text of texts) expect([text, pattern.test(text)]).toEqual([text, new RegExp(source, 'u').test(text)])
  })

  test('whatever the text, and whatever is put together', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\d', '^', '$', '\\b', '(?:a|b)', '(?:ab|)')
    const part = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{0,2}', '{1,}'))
    const unit = part.map(([text, repeat]) => (/^[\^$]|\\b/.test(text) ? text : `${text}${repeat}`))
    const source = fc
      .array(unit, { minLength: 1, maxLength: 6 })
      .chain((parts) =>
        fc.constantFrom(parts.join(''), parts.join('|'), `(?:${parts.join('')})+`, `(?:${parts.join('|')})*$`),
      )
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', '\n', 'é'), maxLength: 12 })
    fc.assert(
      fc.property(source, text, (written, subject) => {
        expect(new Pattern(written).test(subject)).toBe(new RegExp(written, 'u').test(subject))
      }),
      { numRuns: 2_000 },
    )
  })

  test('(?i) ignores case, in classes and beyond ASCII too', () => {
    expect(new Pattern('(?i)Time[d-e] OUT').test('tIMEd out')).toBe(true)
    expect(new Pattern('(?i)größe').test('GRÖßE')).toBe(true)
    expect(new Pattern('(?i)[^a]').test('A')).toBe(false)
    expect(new Pattern('time').test('TIME')).toBe(false)
  })
})

describe('refused, with the place and what to write instead', () => {
  test.each<[string, string]>([
    ['', 'not empty'],
    ['(a)\\1', 'refers back to a group'],
    ['\\k<name>', 'refers back'],
    ['a(?=b)', 'looks ahead or behind'],
    ['a(?!b)', 'looks ahead or behind'],
    ['(?<=a)b', 'looks ahead or behind'],
    ['(?<!a)b', 'looks ahead or behind'],
    ['(?<name>a)', "begins '(?'"],
    ['a(?i)b', "begins '(?'"],
    ['\\p{L}', 'the escape \\p'],
    ['*a', 'nothing before it to repeat'],
    ['a**', 'repeats a repetition'],
    ['a*+', 'not supported'],
    ['a{2', "'{' that does not begin"],
    ['a{,3}', "'{' that does not begin"],
    ['a{3,2}', 'least is above its most'],
    ['a{201}', 'repeats more than 200 times'],
    ['(a', "'(' without a ')'"],
    ['a)', "')' without a '('"],
    ['[a', "'[' without a ']'"],
    ['[z-a]', 'does not go upwards'],
    ['[a-\\d]', 'does not go upwards'],
    ['a\\', 'ends in a single'],
    ['\\u12', '4 hexadecimal digits'],
    ['a'.repeat(501), 'at most 500'],
    ['(a{100}){100}', 'grows too large'],
    ['a{200}'.repeat(6), 'grows too large'],
    // Emits no state at all, however often it is repeated.
    [`${'('.repeat(40)}${'){200}'.repeat(40)}`, 'grows too large'],
  ])('%s', (source, message) => {
    expect(() => new Pattern(source)).toThrow(InvalidError)
    expect(() => new Pattern(source)).toThrow(message)
  })

  test('a refusal says at which character', () => {
    expect(() => new Pattern('abc(?=d)')).toThrow('(at character 6)')
  })
})

describe('intruder 9: linear time', () => {
  const steps = (source: string, text: string): number => new Pattern(source).trial(text).steps

  test.each(['(a+)+$', '(a*)*$', '(a|a)*$', '(a|aa)+$', '(a?){25}a{25}$', '(.*)(.*)(.*)x', '([a-z]+)*!'])(
    '%s takes as many more steps as the text is longer',
    (source) => {
      const short = steps(source, `${'a'.repeat(1_000)}b`)
      const long = steps(source, `${'a'.repeat(8_000)}b`)
      expect(long / short).toBeGreaterThan(4)
      expect(long / short).toBeLessThan(9)
    },
  )

  test('never more than its states for each character, whatever they are', () => {
    const source = '((a|b){0,5}c?){0,10}$'
    const text = 'ab'.repeat(2_000)
    expect(steps(source, text)).toBeLessThan(2 * PATTERN_STATES_MAX * (text.length + 1))
    expect(steps('(a+)+$', `${'a'.repeat(4_000)}b`)).toBeLessThan(20 * 4_000)
  })

  test('a budget ends it: what comes after counts as not matching', () => {
    const pattern = new Pattern('(a?a?){200}Z')
    const text = 'a'.repeat(4_000)
    const whole = pattern.trial(text).steps
    const budget = stepBudget(10_000)
    expect(whole).toBeGreaterThan(100 * budget.left)
    expect(pattern.test(text, budget)).toBe(false)
    expect(budget.left).toBeLessThanOrEqual(0)
    // It stops at a character: no further than all states go with one.
    expect(budget.left).toBeGreaterThan(-3 * PATTERN_STATES_MAX)
    const { left } = budget
    expect(new Pattern('a').test(text, budget)).toBe(false)
    expect(budget.left).toBe(left)
  })

  test('what has enough left matches as ever, and pays for it', () => {
    const budget = stepBudget(1_000)
    expect(new Pattern('time.?out').test('it timed out: timeout', budget)).toBe(true)
    expect(budget.left).toBeGreaterThan(900)
    expect(budget.left).toBeLessThan(1_000)
  })

  test('places where nothing can begin cost nothing', () => {
    expect(steps('quota', 'x'.repeat(100_000))).toBe(0)
  })
})
