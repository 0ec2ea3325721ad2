// Redaction in steps: the same as at once, with a turn for others after each step, however a value was crafted.

import { createRedactor } from '@reprise/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const redactor = createRedactor({ patterns: ['internal-\\d+'] })

/** Every step ends a turn. */
function everyStep() {
  const turns = {
    isSpent: true,
    count: 0,
    wait: async (): Promise<void> => {
      turns.count++
    },
  }
  // Spent once, then free for the one step that follows.
  let isNext = false
  Object.defineProperty(turns, 'isSpent', {
    get: () => {
      isNext = !isNext
      return isNext
    },
  })
  return turns
}

test('shows what it shows at once, also of values that are looked at side by side', async () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('password=hunter2', 'Bearer abcdefghijkl', 'a://b:c@d', 'internal-7'),
  )
  const longText = fc.array(text, { maxLength: 50 }).map((parts) => parts.join(' ').repeat(40))
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      text,
      longText,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('any')),
      fc.dictionary(text, tie('any')),
    ),
  })).any
  await fc.assert(
    fc.asyncProperty(value, value, async (one, other) => {
      const shown = await Promise.all([one, other].map((json) => redactor.paced(json, everyStep())))
      expect(shown).toEqual([redactor.value(one), redactor.value(other)])
    }),
    { numRuns: 60 },
  )
})

const pairs = (count: number, pair: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => pair(index)).join(' ')

test.each<[string, (size: number) => unknown]>([
  ['names', (size) => Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, 1]))],
  ['members of lists', (size) => Array.from({ length: size }, () => ['x'])],
  ['names in one text', (size) => pairs(size, (index) => `keys${index}:1`)],
  ['secrets in one text', (size) => pairs(size, (index) => `password=k${index}`)],
  ['credentials in one text', (size) => pairs(size, () => 'basic aaaaaa1')],
  ['texts in a list', (size) => Array.from({ length: size / 200 }, () => '4 '.repeat(2_000))],
  ['numbers like cards in one text', (size) => pairs(size, () => '4111111111111112')],
])('twice as many %s take twice as many steps, none of them larger', async (_, made) => {
  const stepsOf = async (size: number): Promise<number> => {
    const turns = everyStep()
    await redactor.paced(made(size), turns)
    return turns.count
  }
  const [small, large] = [await stepsOf(20_000), await stepsOf(40_000)]
  expect(small).toBeGreaterThanOrEqual(20_000 / 500)
  expect(large / small).toBeGreaterThan(1.5)
  expect(large / small).toBeLessThan(2.5)
})
