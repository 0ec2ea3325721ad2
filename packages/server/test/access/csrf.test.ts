// What another site can make a browser do with our cookie: nothing.

import { expect, test } from 'vitest'
import { ask, Browser, startAccess } from './fixture.ts'

async function signedIn(): Promise<{ readonly browser: Browser; readonly url: string }> {
  const { access, url } = await startAccess()
  const link = await access.firstLink()
  const browser = new Browser(url)
  const answer = await browser.post(new URL(link ?? '').pathname, '', {
    'content-type': 'application/x-www-form-urlencoded',
  })
  expect(answer.status).toBe(303)
  return { browser, url }
}

const json = { 'content-type': 'application/json' }

test('intruder 3: our own page may change things, by any of the names of this host', async () => {
  const { browser, url } = await signedIn()
  const { port } = new URL(url)
  expect((await browser.post('/probe')).status).toBe(200)
  expect((await browser.send('POST', '/probe', { ...json, origin: url }, '{}')).status).toBe(200)
  expect((await browser.send('POST', '/probe', { ...json, 'sec-fetch-site': 'same-origin' }, '{}')).status).toBe(200)
  expect((await browser.send('POST', '/probe', { ...json, origin: `http://localhost:${port}` }, '{}')).status).toBe(200)
  expect((await browser.send('DELETE', '/probe', { origin: url })).status).toBe(200)
})

const crossSite: readonly [title: string, headers: Readonly<Record<string, string>>][] = [
  ['from another site', { ...json, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['from another port of this host', { ...json, origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
  ['with an origin only', { ...json, origin: 'https://evil.example' }],
  ['with the origin null', { ...json, origin: 'null' }],
  ['with a site only', { ...json, 'sec-fetch-site': 'cross-site' }],
  ['from a neighbouring host', { ...json, 'sec-fetch-site': 'same-site' }],
  ['that does not say where it comes from', json],
]

test.each(crossSite)('intruder 3: a cross-site POST %s gets 403', async (_, headers) => {
  const { browser } = await signedIn()
  const answer = await browser.send('POST', '/probe', headers, '{}')
  expect([answer.status, answer.json.code]).toEqual([403, 'REPRISE_FORBIDDEN'])
})

test.each([
  'text/plain',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
])('intruder 3: JSON sent as %s changes nothing, also if the origin is right', async (type) => {
  const { browser, url } = await signedIn()
  const cross = { 'content-type': type, origin: 'https://evil.example' }
  const own = { 'content-type': type, origin: url }
  expect((await browser.send('POST', '/probe', cross, '{"a":1}')).status).toBe(403)
  expect((await browser.send('POST', '/probe', own, '{"a":1}')).status).toBe(403)
})

test('intruder 3: a POST without any type gets 403', async () => {
  const { browser, url } = await signedIn()
  expect((await browser.send('POST', '/probe', { origin: url })).status).toBe(403)
})

test('intruder 3: a change by GET is no change: 405 where only POST is offered', async () => {
  const { browser } = await signedIn()
  expect((await browser.get('/claim')).status).toBe(405)
  expect((await browser.get('/auth/sign-out')).status).toBe(405)
  expect((await browser.get('/probe')).status).toBe(200)
})

test('intruder 3: another site can not sign anybody out', async () => {
  const { browser } = await signedIn()
  const cross = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' }
  expect((await browser.send('POST', '/auth/sign-out', cross)).status).toBe(403)
  expect((await browser.get('/probe')).status).toBe(200)
})

test('intruder 3: a caller with a token of its own needs no origin', async () => {
  const { browser, url } = await signedIn()
  const made = await browser.post('/api/v1/tokens', '{"name":"ci","role":"operator"}')
  expect(made.status).toBe(201)
  const authorization = `Bearer ${String(made.json.token)}`
  const answer = await ask(`${url}/probe`, { method: 'POST', headers: { authorization, ...json }, body: '{}' })
  expect(answer.json).toEqual({ actor: 'token:ci' })
})

test('intruder 3: pages of ours can not be framed', async () => {
  const { browser } = await signedIn()
  for (const path of ['/probe', '/auth/link/x']) {
    const { headers } = await browser.get(path)
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
})
