// Signatures agree with Standard Webhooks, and everything else is refused.

import { expect, test } from 'vitest'
import { secretKey, sign, signRequest } from '../src/http/signature.ts'
import { verifyRequest, verifySignature } from '../src/index.ts'

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

const line = { method: 'POST', url: '/plugin/runtime/a%20b/execute?x=1' }
const request = {
  ...line,
  body,
  headers: { ...signRequest([secretKey(secret)], ['v2'], 'm', timestamp, { ...line, body }) },
}

test('a request is accepted as it was sent, by its path or its whole address', () => {
  expect(verifyRequest(request, secret, { now })).toBe(true)
  expect(verifyRequest({ ...request, body: Buffer.from(body) }, [secret], { now })).toBe(true)
  expect(verifyRequest({ ...request, url: `https://plugins.example${line.url}` }, secret, { now })).toBe(true)
})

test.each([
  ['another method', { method: 'DELETE' }],
  ['another path', { url: '/plugin/runtime/other/execute?x=1' }],
  ['another query', { url: '/plugin/runtime/a%20b/execute?x=2' }],
  ['no query', { url: '/plugin/runtime/a%20b/execute' }],
  ['another body', { body: `${body} ` }],
  ['a signature of events', { headers: { ...sign([secretKey(secret)], 'm', timestamp, body) } }],
])('intruder 7: a request with %s is refused', (_title, changes) => {
  expect(verifyRequest({ ...request, ...changes }, secret, { now })).toBe(false)
})

test('intruder 7: a request of long ago, or signed with another secret, is refused', () => {
  const other = `whsec_${Buffer.from('another secret, long enough').toString('base64')}`
  expect(verifyRequest(request, secret, { now: now + 301_000 })).toBe(false)
  expect(verifyRequest(request, other, { now })).toBe(false)
  expect(verifyRequest(request, [other, secret], { now })).toBe(true)
})

const whole = { method: 'POST', url: 'https://plugins.example/run?x=1' }
const forHost = {
  ...whole,
  url: '/run?x=1',
  headers: { ...signRequest([secretKey(secret)], ['v1', 'v2', 'v3'], 'm', timestamp, { ...whole, body }) },
  body,
}

test('a request is accepted by the host that it was signed for, and by no other with the same secret', () => {
  const acceptedAt = (origin: string): boolean => verifyRequest(forHost, secret, { now, origin })
  expect(
    ['https://plugins.example', 'https://plugins.example:443/', 'https://PLUGINS.example/run'].map(acceptedAt),
  ).toEqual([true, true, true])
  const others = ['https://other.example', 'http://plugins.example', 'https://plugins.example:8443', 'nonsense', '']
  expect(others.map(acceptedAt)).toEqual([false, false, false, false, false])
  // Receivers that do not say where they are still check the rest.
  expect(verifyRequest(forHost, secret, { now })).toBe(true)
  expect(verifyRequest(request, secret, { now, origin: 'https://plugins.example' })).toBe(false)
})
