// What stands out between failures and successes: found where it was put, ranked, said in words, and nothing where there is
// nothing but noise.

import { describe, expect, test } from 'vitest'
import { type AttemptFacts, contrastsOf, differencesOf, featuresOf, REDACTED } from '../../src/index.ts'

/** Numbers that look random, the same in each run. */
function rolls(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const facts = (change: Partial<AttemptFacts> = {}): AttemptFacts => ({
  version: '1',
  host: 'h1',
  worker: 'w1',
  tenant: 'acme',
  pool: 'default',
  labels: {},
  payload: {},
  payloadBytes: 2,
  attempt: 1,
  startedAt: 0,
  durationMs: 10,
  ...change,
})

const many = (count: number, make: (at: number) => Partial<AttemptFacts>) =>
  Array.from({ length: count }, (_, at) => featuresOf(facts(make(at))))

const sentences = (...samples: Parameters<typeof contrastsOf>): readonly string[] =>
  contrastsOf(...samples).map(({ sentence }) => sentence)

describe('finds what was put there', () => {
  test('a label that nearly all failures have, in the words that an operator needs', () => {
    const failed = many(100, (at) => ({ labels: { region: at < 98 ? 'eu' : 'us' } }))
    const good = many(100, (at) => ({ labels: { region: at < 11 ? 'eu' : 'us' } }))
    expect(sentences(failed, good)).toEqual(['"label.region=eu": 98 % of the failures, 11 % of the successes'])
  })

  test('the strongest first; of what tells the same, what people act on', () => {
    const failed = many(60, (at) => ({ version: '2', host: 'eu-host', labels: { tier: at % 3 === 0 ? 'b' : 'a' } }))
    const good = many(60, (at) => ({ version: '1', host: 'us-host', labels: { tier: at % 3 === 0 ? 'a' : 'b' } }))
    expect(contrastsOf(failed, good).map(({ feature }) => feature)).toEqual(['version', 'host', 'label.tier'])
  })

  test.each([
    ['a missing field', { customer: undefined }, { customer: 'c' }, 'payload.customer is missing'],
    ['a field that is there', { coupon: {} }, {}, 'payload.coupon is there'],
    ['a type', { amount: '12' }, { amount: 12 }, 'payload.amount is string'],
    ['a value deep inside', { a: { b: { c: 'bad' } } }, { a: { b: { c: 'good' } } }, 'payload.a.b.c=bad'],
    ['an empty list', { items: [] }, { items: [1, 2, 3] }, 'length of payload.items=0'],
  ])('%s', (_, failed, good, claim) => {
    const found = sentences(
      many(40, () => ({ payload: JSON.parse(JSON.stringify(failed)) as unknown })),
      many(40, () => ({ payload: good })),
    )
    expect(found).toContainEqual(`"${claim}": 100 % of the failures, 0 % of the successes`)
  })

  test('ranges of numbers: amounts, durations, sizes, attempts', () => {
    const roll = rolls(7)
    const sample = (from: number) =>
      many(100, () => ({ payload: { amount: from + Math.round(roll() * 1_000) }, durationMs: from + roll() * 900 }))
    const found = contrastsOf(sample(1_000), sample(0))
    expect(found.map(({ feature, test: { kind } }) => `${feature} ${kind}`).toSorted()).toEqual([
      'duration atLeast',
      'payload.amount atLeast',
    ])
    const amount = found.find(({ feature }) => feature === 'payload.amount')
    expect(amount?.test.kind === 'atLeast' && amount.test.value).toBeGreaterThan(850)
  })

  test('a time of day', () => {
    const failed = many(50, (at) => ({ startedAt: (2 + (at % 2)) * 3_600_000 }))
    const good = many(100, (at) => ({ startedAt: (at % 24) * 3_600_000 }))
    expect(contrastsOf(failed, good)).toMatchObject([{ feature: 'hour of day', test: { kind: 'atMost' } }])
  })
})

describe('is honest', () => {
  test('noise gives no answer: of 100 invented incidents without a cause at most one gets one', () => {
    const roll = rolls(42)
    const pick = (count: number): string => String(Math.floor(roll() * count))
    const noise = () =>
      many(120, () => ({
        version: pick(2),
        host: pick(6),
        worker: pick(20),
        tenant: pick(8),
        labels: { region: pick(3), tier: pick(4), shard: pick(16) },
        payload: { amount: roll() * 1_000, kind: pick(5), note: roll() < 0.5 ? undefined : 'x', n: pick(30) },
        durationMs: roll() * 500,
        startedAt: roll() * 86_400_000,
      }))
    let wrong = 0
    for (let at = 0; at < 100; at++) if (contrastsOf(noise(), noise()).length > 0) wrong++
    expect(wrong).toBeLessThanOrEqual(1)
  })

  test('a cause is found among the noise', () => {
    const roll = rolls(3)
    const sample = (eu: number) =>
      many(150, () => ({
        worker: String(Math.floor(roll() * 30)),
        labels: { region: roll() < eu ? 'eu' : 'us', shard: String(Math.floor(roll() * 20)) },
        payload: { a: roll(), b: Math.floor(roll() * 9) },
        durationMs: roll() * 100,
      }))
    expect(contrastsOf(sample(0.9), sample(0.3))).toMatchObject([{ feature: 'label.region', test: { value: 'eu' } }])
  })

  test('a few attempts on a side say nothing', () => {
    const failed = many(4, () => ({ version: '2' }))
    const good = many(100, () => ({ version: '1' }))
    expect(contrastsOf(failed, good)).toEqual([])
    expect(contrastsOf(good, failed)).toEqual([])
  })

  test('a share that is nearly all is not called all', () => {
    const failed = many(1_000, (at) => ({ version: at === 0 ? '1' : '2' }))
    const good = many(1_000, (at) => ({ version: at === 0 ? '2' : '1' }))
    expect(sentences(failed, good)).toEqual(['"version=2": over 99 % of the failures, under 1 % of the successes'])
  })

  test('what is redacted is told apart by being there, never by its value', () => {
    const failed = many(50, () => ({ payload: { token: REDACTED }, labels: { secret: REDACTED } }))
    const good = many(50, () => ({ payload: {} }))
    expect(sentences(failed, good)).toEqual(['"payload.token is there": 100 % of the failures, 0 % of the successes'])
  })

  test('a payload of any size and depth gives a bounded number of features', () => {
    let deep: unknown = 1
    for (let at = 0; at < 50; at++) deep = { deep }
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, at]))
    expect(featuresOf(facts({ payload: { deep, wide } })).size).toBeLessThan(500)
  })
})

test('the difference of two attempts leaves out what is the same', () => {
  const failed = featuresOf(facts({ version: '2', payload: { region: 'eu', size: 3, customer: 'a' }, durationMs: 50 }))
  const good = featuresOf(facts({ version: '1', payload: { region: 'us', size: 3 } }))
  expect(differencesOf(failed, good)).toEqual([
    { feature: 'version', failed: '2', good: '1' },
    { feature: 'payload.region', failed: 'eu', good: 'us' },
    { feature: 'payload.customer', failed: 'a', good: null },
    { feature: 'duration', failed: 50, good: 10 },
  ])
})
