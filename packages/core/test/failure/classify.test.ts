// Passing faults and real ones (C3), by code, by HTTP status, by words, and by the handler's own word.

import { type FailureReason, FINAL_REASONS, normalise, RETRIABLE_REASONS } from '@reprise/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classify } from '../../src/failure/classify.ts'
import { growth } from '../timing.ts'

const ofCode = (code: string) => classify({ code, message: '', says: null })
const ofMessage = (message: string) => classify({ code: null, message, says: null })

describe('C3: the table, by words', () => {
  test.each<[string, FailureReason]>([
    ['queue TTL expired', 'queue_timeout'],
    ['Worker unavailable', 'worker_unavailable'],
    ['the request timed out', 'timeout'],
    ['Timeout of 500 ms exceeded', 'timeout'],
    ['worker heartbeat stale', 'worker_lost'],
    ['stale heartbeat', 'worker_lost'],
    ['a transient fault', 'transient'],
    ['temporary failure in name resolution', 'transient'],
    ['Service temporarily overloaded', 'transient'],
    ['Connection refused', 'connection'],
    ['connection reset by peer', 'connection'],
    ['socket hang up', 'connection'],
    ['429 Too Many Requests', 'rate_limited'],
    ['rate limit reached', 'rate_limited'],
    ['Worker queue TTL expired', 'queue_timeout'],
    ['heartbeat is stale', 'worker_lost'],
    ['503 Service Unavailable', 'worker_unavailable'],
    ['connect ECONNREFUSED 10.0.0.7:443', 'connection'],
    ['write: broken pipe', 'connection'],
    ['502 Bad Gateway', 'connection'],
    ['connect ETIMEDOUT 10.0.0.7:443', 'timeout'],
  ])('retriable: %s', (message, reason) => {
    expect(ofMessage(message)).toMatchObject({ reason, retriable: true })
  })

  test.each<[string, FailureReason]>([
    ['Validation failed', 'validation'],
    ['Permission denied', 'permission'],
    ['Action not found', 'action_not_found'],
    ['Invalid parameters', 'invalid_parameters'],
    ['invalid parameter: width', 'invalid_parameters'],
    ['something else', 'unknown'],
    ['', 'unknown'],
  ])('not retriable: %s', (message, reason) => {
    expect(ofMessage(message)).toMatchObject({ reason, retriable: false })
  })

  test('what is certainly final wins over a word that sounds passing', () => {
    expect(ofMessage('validation of field "timeout" failed').reason).toBe('validation')
    expect(ofMessage('permission denied after a transient fault').reason).toBe('permission')
  })
})

describe('C3: by code and status', () => {
  test.each<[string, FailureReason, boolean]>([
    ['ECONNREFUSED', 'connection', true],
    ['ECONNRESET', 'connection', true],
    ['EPIPE', 'connection', true],
    ['EAI_AGAIN', 'connection', true],
    ['UND_ERR_SOCKET', 'connection', true],
    ['ETIMEDOUT', 'timeout', true],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout', true],
    ['SQLITE_BUSY', 'transient', true],
    ['EMFILE', 'transient', true],
    ['EACCES', 'permission', false],
    ['EPERM', 'permission', false],
    ['REPRISE_INVALID', 'validation', false],
    ['REPRISE_TOO_LARGE', 'validation', false],
    ['HTTP_400', 'invalid_parameters', false],
    ['HTTP_401', 'permission', false],
    ['HTTP_403', 'permission', false],
    ['HTTP_404', 'not_found', false],
    ['HTTP_408', 'timeout', true],
    ['HTTP_409', 'permanent', false],
    ['HTTP_410', 'not_found', false],
    ['HTTP_422', 'validation', false],
    ['HTTP_425', 'transient', true],
    ['HTTP_429', 'rate_limited', true],
    ['HTTP_500', 'transient', true],
    ['HTTP_502', 'connection', true],
    ['HTTP_503', 'worker_unavailable', true],
    ['HTTP_504', 'timeout', true],
    ['ENOTFOUND', 'connection', true],
    ['EPROTO', 'connection', true],
    ['ETIMEOUT', 'timeout', true],
    ['ENOMEM', 'transient', true],
    ['ENOSPC', 'transient', true],
    ['REPRISE_STORE_BUSY', 'transient', true],
    ['REPRISE_TIMED_OUT', 'timeout', true],
    ['ENOENT', 'not_found', false],
    ['EINVAL', 'invalid_parameters', false],
    ['ERR_INVALID_URL', 'invalid_parameters', false],
    ['CERT_HAS_EXPIRED', 'permanent', false],
    ['HTTP_402', 'permanent', false],
    ['HTTP_405', 'invalid_parameters', false],
    ['HTTP_413', 'validation', false],
    ['HTTP_418', 'permanent', false],
    ['HTTP_423', 'transient', true],
    ['HTTP_451', 'permission', false],
    ['HTTP_501', 'permanent', false],
    ['HTTP_507', 'transient', true],
    ['HTTP_520', 'transient', true],
    ['HTTP_521', 'connection', true],
    ['HTTP_522', 'timeout', true],
    ['HTTP_523', 'connection', true],
    ['HTTP_524', 'timeout', true],
    ['HTTP_529', 'rate_limited', true],
    ['HTTP_599', 'timeout', true],
  ])('%s is %s, retriable: %s', (code, reason, retriable) => {
    expect(ofCode(code)).toEqual({ reason, retriable, rule: `code:${code}` })
  })

  test.each(RETRIABLE_REASONS)('what Reprise itself observed is known by its reason: %s', (reason) => {
    expect(ofCode(reason)).toEqual({ reason, retriable: true, rule: `code:${reason}` })
  })

  test.each(FINAL_REASONS)('and so is what does not go away: %s', (reason) => {
    expect(ofCode(reason)).toEqual({ reason, retriable: false, rule: `code:${reason}` })
  })

  test('a known code wins over the message; an unknown one leaves it to the message', () => {
    expect(classify({ code: 'EACCES', message: 'timed out', says: null }).reason).toBe('permission')
    expect(classify({ code: 'E_OWN', message: 'timed out', says: null })).toEqual({
      reason: 'timeout',
      retriable: true,
      rule: 'message:timed out',
    })
  })

  test.each([
    'constructor',
    'toString',
    '__proto__',
    'hasOwnProperty',
    'HTTP_200',
    'HTTP_4040',
    'HTTP_',
    'econnreset',
    '',
  ])('an unknown code is unknown: %j', (code) => {
    expect(ofCode(code)).toEqual({ reason: 'unknown', retriable: false, rule: 'unknown' })
  })
})

test('C3: every error status has a reason: other 4xx are final, other 5xx pass', () => {
  for (let status = 400; status <= 599; status++) {
    const { reason, rule } = ofCode(`HTTP_${status}`)
    expect([status, rule]).toEqual([status, `code:HTTP_${status}`])
    expect(reason).not.toBe('unknown')
  }
  expect([ofCode('HTTP_499').retriable, ofCode('HTTP_498').retriable, ofCode('HTTP_555').retriable]).toEqual([
    true,
    false,
    true,
  ])
})

describe('C3: the handler’s own word wins', () => {
  test('over the code', () => {
    expect(classify({ code: 'ECONNRESET', message: '', says: 'dead' })).toEqual({
      reason: 'permanent',
      retriable: false,
      rule: 'handler',
    })
    expect(classify({ code: 'EACCES', message: '', says: 'retry' })).toEqual({
      reason: 'transient',
      retriable: true,
      rule: 'handler',
    })
  })

  test('and the reason found is kept where it agrees', () => {
    expect(classify({ code: 'HTTP_429', message: '', says: 'retry' }).reason).toBe('rate_limited')
    expect(classify({ code: null, message: 'validation failed', says: 'dead' }).reason).toBe('validation')
  })

  test('for what nobody knows, too', () => {
    expect(classify({ code: null, message: 'odd', says: 'retry' }).reason).toBe('transient')
    expect(classify({ code: null, message: 'odd', says: 'dead' }).reason).toBe('permanent')
  })
})

test('a verdict is retriable exactly when its reason is', () => {
  const says = fc.constantFrom('retry' as const, 'dead' as const, null)
  fc.assert(
    fc.property(fc.option(fc.string()), fc.string(), says, (code, message, word) => {
      const verdict = classify({ code, message, says: word })
      const known: readonly string[] = verdict.retriable ? RETRIABLE_REASONS : FINAL_REASONS
      expect(known).toContain(verdict.reason)
      expect(verdict.retriable).toBe(word === null ? verdict.retriable : word === 'retry')
    }),
  )
})

test('intruder 9: a message of 1 MB takes time in proportion to its length', () => {
  const text = 'time'.repeat(262_144)
  const times = growth((size) => void ofMessage(text.slice(0, size)), { small: 131_072, large: 1_048_576, below: 30 })
  // Eight times the length: about 8 when linear, 64 when quadratic.
  expect(times).toBeLessThan(30)
})

describe('a status beside a code that says nothing', () => {
  test('decides: an HTTP client names its own code and the response it got', () => {
    const thrown = Object.assign(new Error('Request failed'), { code: 'ERR_BAD_RESPONSE', response: { status: 503 } })
    const normalised = normalise(thrown)
    expect(normalised).toMatchObject({ code: 'ERR_BAD_RESPONSE', httpCode: 'HTTP_503' })
    expect(classify(normalised)).toEqual({ reason: 'worker_unavailable', retriable: true, rule: 'code:HTTP_503' })
  })

  test('does not overrule a code that says something', () => {
    const thrown = Object.assign(new Error('gone'), { code: 'ECONNRESET', status: 404 })
    expect(classify(normalise(thrown))).toMatchObject({ reason: 'connection', rule: 'code:ECONNRESET' })
  })
})
