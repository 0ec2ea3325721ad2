// Signatures agree with Standard Webhooks, and everything else is refused.

import { expect, test } from 'vitest'
import { secretKey, sign } from '../src/http/signature.ts'
import { verifySignature } from '../src/index.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const timestamp = 1_614_265_330
const now = timestamp * 1_000
const body = '{"test": 2432232314}'
const signed = sign([secretKey(secret)], 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp, body)

test('the example of the specification', () => {
  expect(signed).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('what was signed is accepted: as text, as bytes, from a Headers object, with either of two secrets', () => {
  const other = `whsec_${Buffer.from('another secret, long enough').toString('base64')}`
  expect(verifySignature({ ...signed }, body, secret, { now })).toBe(true)
  expect(verifySignature({ ...signed }, Buffer.from(body), secret, { now })).toBe(true)
  expect(verifySignature(new Headers({ ...signed }), body, [other, secret], { now })).toBe(true)
  const both = sign([secretKey(other), secretKey(secret)], 'm', timestamp, body)
  expect(verifySignature({ ...both }, body, secret, { now })).toBe(true)
})

test.each([
  ['another body', {}, `${body} `, 0],
  ['another id', { 'webhook-id': 'x' }, body, 0],
  ['another time', { 'webhook-timestamp': '1614265331' }, body, 0],
  ['no signature', { 'webhook-signature': '' }, body, 0],
  ['another version', { 'webhook-signature': signed['webhook-signature'].replace('v1', 'v2') }, body, 0],
  ['a short signature', { 'webhook-signature': 'v1,AAAA' }, body, 0],
  ['a time that is no number', { 'webhook-timestamp': '0x60' }, body, 0],
  ['a request of long ago', {}, body, 301_000],
  ['a request of the future', {}, body, -301_000],
])('%s is refused', (_title, changes, text, offMs) => {
  expect(verifySignature({ ...signed, ...changes }, text, secret, { now: now + offMs })).toBe(false)
})
