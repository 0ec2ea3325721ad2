// What a handler can throw to have its way (C3), also when it was made by another copy of this package.

import { normalise, outcomeRequest, Permanent, RetryAfter, Transient } from '@reprise/core'
import { describe, expect, test, vi } from 'vitest'

const OUTCOME = Symbol.for('reprise.outcome')

describe('C3: the three words of a handler', () => {
  test('Permanent asks for no more retries, and keeps message and cause', () => {
    const thrown = new Permanent('the card was stolen', { cause: 'bank' })
    expect(outcomeRequest(thrown)).toEqual({ says: 'dead', retryAfterMs: null })
    expect(thrown).toMatchObject({ name: 'Permanent', message: 'the card was stolen', cause: 'bank' })
    expect(thrown).toBeInstanceOf(Error)
  })

  test('Transient asks for a retry', () => {
    const thrown = new Transient('the bank is asleep')
    expect(outcomeRequest(thrown)).toEqual({ says: 'retry', retryAfterMs: null })
    expect(thrown.name).toBe('Transient')
  })

  test('RetryAfter takes any duration and has a message of its own', () => {
    expect(outcomeRequest(new RetryAfter('1m30s'))).toEqual({ says: 'retry', retryAfterMs: 90_000 })
    expect(outcomeRequest(new RetryAfter(0))).toEqual({ says: 'retry', retryAfterMs: 0 })
    expect(new RetryAfter(5).message).toBe('The handler asked to be run again later.')
    expect(() => new RetryAfter('soon')).toThrow('RetryAfter delay')
  })

  test('normalise passes the word on', () => {
    expect(normalise(new Permanent('no'))).toMatchObject({ says: 'dead', retryAfterMs: null })
    expect(normalise(new RetryAfter('2s'))).toMatchObject({ says: 'retry', retryAfterMs: 2_000 })
    expect(normalise(new Error('no'))).toMatchObject({ says: null, retryAfterMs: null })
  })
})

describe('across two copies of the package', () => {
  test('a second copy is understood', async () => {
    vi.resetModules()
    const second = await import('../../src/failure/outcome.ts')
    expect(second.RetryAfter).not.toBe(RetryAfter)
    expect(outcomeRequest(new second.Permanent('no'))).toEqual({ says: 'dead', retryAfterMs: null })
    expect(outcomeRequest(new second.RetryAfter('1s'))).toEqual({ says: 'retry', retryAfterMs: 1_000 })
    expect(second.outcomeRequest(new Transient('no'))).toEqual({ says: 'retry', retryAfterMs: null })
  })

  test('a plain object with the symbol is enough', () => {
    const thrown = { [OUTCOME]: { says: 'retry', retryAfterMs: 250 } }
    expect(outcomeRequest(thrown)).toEqual({ says: 'retry', retryAfterMs: 250 })
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 42],
    ['a text', 'retry'],
    ['an unknown word', { says: 'perhaps', retryAfterMs: null }],
    ['no word', { retryAfterMs: 5 }],
  ])('a request of an unknown shape asks for nothing: %s', (_, request) => {
    expect(outcomeRequest({ [OUTCOME]: request })).toBeNull()
  })

  test.each<unknown>([undefined, '5', Number.NaN, -1, Number.POSITIVE_INFINITY])(
    'a delay that is none counts as not given: %s',
    (retryAfterMs) => {
      expect(outcomeRequest({ [OUTCOME]: { says: 'retry', retryAfterMs } })).toEqual({
        says: 'retry',
        retryAfterMs: null,
      })
    },
  )
})

describe('asks for nothing, and never throws', () => {
  const refuse = (): never => {
    throw new Error('no')
  }
  const hostile = new Proxy({}, { has: refuse, get: refuse })

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'Permanent'],
    ['an ordinary error', new Error('Permanent')],
    ['a proxy that throws', hostile],
    ['a request that throws', { [OUTCOME]: hostile }],
    ['a getter that throws', Object.defineProperty({}, OUTCOME, { get: refuse })],
  ])('%s', (_, thrown) => {
    expect(outcomeRequest(thrown)).toBeNull()
  })
})
