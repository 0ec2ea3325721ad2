// What a handler can throw to have its way (C3), also when it was made by another copy of this package.

import { normalise, outcomeRequest, PermanentError, RetryAfterError, TransientError } from '@reprise/core'
import { describe, expect, test, vi } from 'vitest'

const OUTCOME = Symbol.for('reprise.outcome')

describe('C3: the three words of a handler', () => {
  test('PermanentError asks for no more retries, and keeps message and cause', () => {
    const thrown = new PermanentError('the card was stolen', { cause: 'bank' })
    expect(outcomeRequest(thrown)).toEqual({ says: 'dead', retryAfterMs: null })
    expect(thrown).toMatchObject({ name: 'PermanentError', message: 'the card was stolen', cause: 'bank' })
    expect(thrown).toBeInstanceOf(Error)
  })

  test('TransientError asks for a retry', () => {
    const thrown = new TransientError('the bank is asleep')
    expect(outcomeRequest(thrown)).toEqual({ says: 'retry', retryAfterMs: null })
    expect(thrown.name).toBe('TransientError')
  })

  test('RetryAfterError takes any duration and has a message of its own', () => {
    expect(outcomeRequest(new RetryAfterError('1m30s'))).toEqual({ says: 'retry', retryAfterMs: 90_000 })
    expect(outcomeRequest(new RetryAfterError(0))).toEqual({ says: 'retry', retryAfterMs: 0 })
    expect(new RetryAfterError(5).message).toBe('The handler asked to be run again later.')
    expect(() => new RetryAfterError('soon')).toThrow('RetryAfterError delay')
  })

  test.each([
    ['PermanentError', new PermanentError('no', { code: 'CARD_DECLINED', cause: 'bank' })],
    ['TransientError', new TransientError('no', { code: 'CARD_DECLINED', cause: 'bank' })],
    ['RetryAfterError', new RetryAfterError('1s', 'no', { code: 'CARD_DECLINED', cause: 'bank' })],
  ])('the code of a %s is the code of the failure', (name, thrown) => {
    expect(thrown).toMatchObject({ name, code: 'CARD_DECLINED', cause: 'bank' })
    expect(normalise(thrown)).toMatchObject({ name, code: 'CARD_DECLINED' })
  })

  test('without a code there is none, and that of the cause counts', () => {
    expect('code' in new PermanentError('no')).toBe(false)
    const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET' })
    expect(normalise(new TransientError('no', { cause }))).toMatchObject({ code: 'ECONNRESET' })
  })

  test('normalise passes the word on', () => {
    expect(normalise(new PermanentError('no'))).toMatchObject({ says: 'dead', retryAfterMs: null })
    expect(normalise(new RetryAfterError('2s'))).toMatchObject({ says: 'retry', retryAfterMs: 2_000 })
    expect(normalise(new Error('no'))).toMatchObject({ says: null, retryAfterMs: null })
  })
})

describe('across two copies of the package', () => {
  test('a second copy is understood', async () => {
    vi.resetModules()
    const second = await import('../../src/failure/outcome.ts')
    expect(second.RetryAfterError).not.toBe(RetryAfterError)
    expect(outcomeRequest(new second.PermanentError('no'))).toEqual({ says: 'dead', retryAfterMs: null })
    expect(outcomeRequest(new second.RetryAfterError('1s'))).toEqual({ says: 'retry', retryAfterMs: 1_000 })
    expect(second.outcomeRequest(new TransientError('no'))).toEqual({ says: 'retry', retryAfterMs: null })
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
    ['a string', 'PermanentError'],
    ['an ordinary error', new Error('PermanentError')],
    ['a proxy that throws', hostile],
    ['a request that throws', { [OUTCOME]: hostile }],
    ['a getter that throws', Object.defineProperty({}, OUTCOME, { get: refuse })],
  ])('%s', (_, thrown) => {
    expect(outcomeRequest(thrown)).toBeNull()
  })
})
