// From whatever was thrown, or observed, to the failure that is stored and shown.

import { describeFailure, normalise, observedFailure, PermanentError, RetryAfterError } from '@reprise/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprintOf } from '../../src/failure/fingerprint.ts'
import { RENDER } from '../fixture.ts'

test('a thrown error, normalised, classified and fingerprinted', () => {
  const thrown = Object.assign(new TypeError('connect ECONNREFUSED 127.0.0.1:80'), { code: 'ECONNREFUSED', port: 80 })
  expect(describeFailure(thrown, RENDER)).toEqual({
    code: 'ECONNREFUSED',
    name: 'TypeError',
    message: 'connect ECONNREFUSED 127.0.0.1:80',
    stack: thrown.stack,
    reason: 'connection',
    retriable: true,
    rule: 'code:ECONNREFUSED',
    retryAfterMs: null,
    fingerprint: fingerprintOf(RENDER, normalise(thrown)),
    details: '{"port":80}',
  })
})

test('without a code of its own, the reason is the code', () => {
  expect(describeFailure(new Error('timed out'), RENDER).code).toBe('timeout')
  expect(describeFailure(undefined, RENDER)).toMatchObject({ code: 'unknown', reason: 'unknown', retriable: false })
})

test('C3: the handler’s own word', () => {
  expect(describeFailure(new PermanentError('timed out'), RENDER)).toMatchObject({ retriable: false, rule: 'handler' })
  expect(describeFailure(new RetryAfterError('5s'), RENDER)).toMatchObject({
    reason: 'transient',
    retriable: true,
    retryAfterMs: 5_000,
  })
})

test('what Reprise observed by itself', () => {
  const seen = observedFailure('worker_lost', "Worker 'w1' stopped renewing its lease.", RENDER)
  expect(seen).toMatchObject({
    code: 'worker_lost',
    name: 'ObservedFailure',
    reason: 'worker_lost',
    retriable: true,
    rule: 'code:worker_lost',
    stack: null,
    details: null,
  })
  // The worker's name is folded away: all losses of one action form one group.
  expect(observedFailure('worker_lost', "Worker 'w2' stopped renewing its lease.", RENDER).fingerprint).toBe(
    seen.fingerprint,
  )
})

test('fault 20: nothing that can be thrown makes it throw, and it can be stored as JSON', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (thrown) => {
      const failure = describeFailure(thrown, RENDER)
      expect(JSON.parse(JSON.stringify(failure))).toEqual(failure)
    }),
  )
})
