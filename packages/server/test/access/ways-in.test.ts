// The other ways in, their order, and how wrong credentials are slowed down.

import { createHash } from 'node:crypto'
import { authorise } from '@reprise/operations'
import { expect, test } from 'vitest'
import { openAccess } from '../../src/access/index.ts'
import { LINK_MS } from '../../src/access/one-time-link.ts'
import { RemoteAddresses } from '../../src/access/remote-address.ts'
import { ask, Browser, bearer, newClock, newEngine, newIssuer, startAccess } from './fixture.ts'

const dev = (value: string, more: Readonly<Record<string, string>> = {}) => ({
  headers: { 'x-dev-user': value, ...more },
})
const WRONG_TOKEN = `rpr_${'a'.repeat(16)}_${'b'.repeat(64)}`

test('A12: x-dev-user gives dev:<value> as an admin when ENV is local', async () => {
  const { url, access } = await startAccess({ env: 'local' })
  const me = await ask(`${url}/api/v1/me`, dev('ann'))
  expect(me.json).toMatchObject({ kind: 'dev', actor: 'dev:ann', tenants: null })
  expect(me.json.scopes).toEqual(['read', 'submit', 'operate', 'configure', 'tokens'])
  expect(access.warnings).toEqual([expect.stringContaining('ENV=local')])
})

test.each([undefined, '', 'LOCAL', 'Local', ' local', 'local ', 'localhost', 'production'])(
  'A12: x-dev-user is as good as absent when ENV is %j',
  async (env) => {
    const { url, access } = await startAccess({ env })
    const answer = await ask(`${url}/api/v1/me`, dev('ann'))
    expect([answer.status, answer.json.code]).toEqual([401, 'REPRISE_UNAUTHENTICATED'])
    expect(access.warnings).toEqual([])
  },
)

test.each(['../root', '..', 'a'.repeat(201)])('A12: x-dev-user with the value %j is no name', async (value) => {
  const { url } = await startAccess({ env: 'local' })
  expect((await ask(`${url}/api/v1/me`, dev(value))).status).toBe(401)
})

test('intruder 3: a page that points its own name at this host can not use x-dev-user', async () => {
  const { access } = await startAccess({ env: 'local' })
  const from = (host: string, remoteAddress = '127.0.0.1', more: Readonly<Record<string, string>> = {}) =>
    access.authenticate({
      method: 'GET',
      url: '/api/v1/me',
      headers: { host, 'x-dev-user': 'ann', ...more },
      socket: { remoteAddress },
    })
  for (const host of ['evil.example:7440', 'evil.example', 'localhost.evil.example', '', '127.0.0.1.evil.example']) {
    await expect(from(host)).rejects.toMatchObject({ status: 401 })
  }
  for (const host of ['10.1.2.3', 'core:7440', 'core.internal']) {
    await expect(from(host)).rejects.toMatchObject({ status: 401 })
  }
  for (const host of ['localhost:7440', '127.0.0.1:7440', '[::1]:7440', 'LOCALHOST', 'reprise.localhost']) {
    await expect(from(host)).resolves.toMatchObject({ actor: 'dev:ann' })
  }
  // Nor anybody from another host, whatever they call this one, or through a proxy on it.
  for (const address of ['10.1.2.3', '192.0.2.1', '::ffff:10.0.0.1', '2001:db8::1']) {
    await expect(from('localhost', address)).rejects.toMatchObject({ status: 401 })
  }
  await expect(from('localhost', '127.0.0.1', { 'x-forwarded-for': '192.0.2.1' })).rejects.toMatchObject({
    status: 401,
  })
})

test('A12: a wrong credential is refused, not passed over for the next one', async () => {
  const { url } = await startAccess({ env: 'local' })
  const answers = [
    await ask(`${url}/api/v1/me`, dev('ann', { authorization: `Bearer ${WRONG_TOKEN}` })),
    await ask(`${url}/api/v1/me`, dev('ann', { cookie: `reprise=${'0'.repeat(64)}` })),
    await ask(`${url}/api/v1/me`, dev('ann', { cookie: 'reprise=nonsense' })),
    await ask(`${url}/api/v1/me`, dev('ann', { authorization: '' })),
  ]
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
  expect((await ask(`${url}/api/v1/me`, dev('ann', { cookie: 'other=1' }))).status).toBe(200)
})

test('A12: the one-time link is for the first start only: not where a sign-in is configured', async () => {
  const clock = newClock()
  const issuer = await newIssuer(clock)
  const signIn = { issuer: issuer.url, clientId: issuer.clientId }
  expect(await (await startAccess({ signIn })).access.firstLink()).toBeNull()
  expect(await (await startAccess({ google: { clientIds: ['x'] } })).access.firstLink()).toBeNull()
  const { access, url } = await startAccess()
  expect(await access.firstLink()).toMatch(new RegExp(`^${url}/auth/link/[0-9a-f]{64}$`))
})

test('intruder 3: where other hosts can reach the server there is no one-time link, unless it is asked for', async () => {
  const clock = newClock()
  const engine = await newEngine(clock)
  const near = await startAccess({}, { clock, engine })
  for (const host of ['0.0.0.0', '::', '10.1.2.3', 'reprise.example.com', '192.168.0.7']) {
    const far = await startAccess({ host }, { clock, engine })
    expect([host, await far.access.firstLink()]).toEqual([host, null])
    // Nor is one that a server on loopback printed.
    const link = pathOf(await near.access.firstLink())
    expect((await new Browser(far.url).post(link, '', form)).status).toBe(404)
    expect((await new Browser(near.url).post(link, '', form)).status).toBe(303)
  }
  for (const host of ['127.0.0.1', '127.8.9.10', '::1', 'localhost']) {
    expect(await (await startAccess({ host }, { clock, engine })).access.firstLink()).toContain('/auth/link/')
  }
  const asked = await startAccess({ host: '0.0.0.0', adminLink: true }, { clock, engine })
  const link = pathOf(await asked.access.firstLink())
  expect((await new Browser(asked.url).post(link, '', form)).status).toBe(303)
})

test('intruder 3: a session by the one-time link ends when sign-in is configured', async () => {
  const clock = newClock()
  const engine = await newEngine(clock)
  const before = await startAccess({}, { clock, engine })
  const browser = new Browser(before.url)
  await browser.post(pathOf(await before.access.firstLink()), '', form)
  expect((await browser.get('/probe')).status).toBe(200)
  const issuer = await newIssuer(clock)
  const signIn = { issuer: issuer.url, clientId: issuer.clientId }
  const after = await startAccess({ signIn, admins: ['ann@example.com'] }, { clock, engine })
  const same = new Browser(after.url)
  for (const [name, value] of browser.cookies) same.cookies.set(name, value)
  expect((await same.get('/probe')).status).toBe(401)
  expect((await browser.get('/probe')).status).toBe(401)
})

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const pathOf = (link: string | null): string => new URL(link ?? '').pathname

test('A12: the one-time link shows a button, and the button signs in as a local admin, once', async () => {
  const { access, engine, url } = await startAccess()
  const link = pathOf(await access.firstLink())
  const browser = new Browser(url)
  // A program that looks at links, many times.
  for (let look = 0; look < 3; look++) {
    const page = await browser.get(link)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.body).toContain('<form method="post">')
    expect(page.body).not.toMatch(/<script|\son\w+=|style=/)
  }
  expect(browser.cookies.size).toBe(0)
  const code = link.split('/').at(-1) ?? ''
  expect(JSON.stringify(await engine.collection({ name: 'links', indexes: {} }).list())).not.toContain(code)

  const redeemed = await browser.post(link, '', form)
  expect([redeemed.status, redeemed.headers.get('location')]).toEqual([303, '/'])
  expect((await browser.get('/api/v1/me')).json).toMatchObject({ actor: 'local:admin', tenants: null })
  const again = await new Browser(url).post(link, '', form)
  expect([again.status, again.json.detail]).toEqual([401, expect.stringContaining('used already')])
})

test('21: a link that was used shows browsers a page that helps, with the same headers, and programs a problem', async () => {
  const { access, url } = await startAccess()
  const link = pathOf(await access.firstLink())
  await new Browser(url).post(link, '', form)
  const page = await new Browser(url).post(link, '', { ...form, accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
  expect([page.status, page.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8'])
  expect(page.body).toContain('For a new link, restart the server.')
  expect(page.body).not.toMatch(/<script|\son\w+=|style=/)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(page.headers.get('cache-control')).toBe('no-store')
  const program = await new Browser(url).post(link, '', { ...form, accept: 'application/json' })
  expect([program.status, program.json.code]).toEqual([401, 'REPRISE_UNAUTHENTICATED'])
})

test('A12: the page of a link tells nothing about its code, and keeps the address to itself', async () => {
  const { access, url } = await startAccess()
  const right = await ask(`${url}${pathOf(await access.firstLink())}`)
  const wrong = await ask(`${url}/auth/link/%3Cscript%3E`)
  expect(right.body).toBe(wrong.body)
  expect(right.headers.get('referrer-policy')).toBe('same-origin')
  expect(right.headers.get('cache-control')).toBe('no-store')
  expect(right.headers.get('content-security-policy')).toContain("default-src 'none'")
})

test('A12: of many who redeem a link at once, on two servers, one gets in', async () => {
  const clock = newClock()
  const engine = await newEngine(clock)
  const servers = [await startAccess({}, { clock, engine }), await startAccess({}, { clock, engine })]
  const link = pathOf((await servers[0]?.access.firstLink()) ?? null)
  const tries = servers.flatMap(({ url }) => Array.from({ length: 10 }, () => new Browser(url).post(link, '', form)))
  const statuses = (await Promise.all(tries)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 303)).toHaveLength(1)
  expect(statuses.filter((status) => status === 401)).toHaveLength(19)
})

test('A12: a link ends after a quarter of an hour, and leaves the store', async () => {
  const { access, clock, engine, url } = await startAccess()
  const link = pathOf(await access.firstLink())
  clock.jump(LINK_MS)
  expect((await new Browser(url).post(link, '', form)).status).toBe(401)
  await access.firstLink()
  clock.jump(LINK_MS)
  await access.firstLink()
  expect((await engine.collection({ name: 'links', indexes: {} }).list()).items).toHaveLength(1)
})

test('intruder 3: another site can not redeem a link', async () => {
  const { access, url } = await startAccess()
  const link = pathOf(await access.firstLink())
  const cross = await new Browser(url).post(link, '', {
    ...form,
    origin: 'https://evil.example',
    'sec-fetch-site': 'cross-site',
  })
  expect(cross.status).toBe(403)
  expect((await new Browser(url).post(link, '', form)).status).toBe(303)
})

test('intruder 11: wrong credentials are slowed down by address, with Retry-After, and only for a while', async () => {
  const { url, access, clock } = await startAccess({ failureBounds: { burst: 3, everyMs: 2_000 } })
  const admin = { kind: 'user', actor: 'x', name: 'x', scopes: new Set(['read'] as const), tenants: null } as const
  const [known, fresh] = [
    await access.tokens.create({ name: 'known', scopes: ['read'] }, admin),
    await access.tokens.create({ name: 'fresh', scopes: ['read'] }, admin),
  ]
  const look = (token: string) => ask(`${url}/probe`, bearer(token))
  expect((await look(known.token)).status).toBe(200)
  const statuses: number[] = []
  for (let tries = 0; tries < 4; tries++) statuses.push((await look(WRONG_TOKEN)).status)
  expect(statuses).toEqual([401, 401, 401, 429])
  const limited = await look(WRONG_TOKEN)
  expect([limited.status, limited.json.code, limited.headers.get('retry-after')]).toEqual([
    429,
    'REPRISE_RATE_LIMITED',
    '2',
  ])
  // Real ones pass, whether they were ever used here or not.
  expect((await look(known.token)).status).toBe(200)
  expect((await look(fresh.token)).status).toBe(200)
  clock.jump(2_000)
  expect((await look(WRONG_TOKEN)).status).toBe(401)
})

test('intruder 11: guesses from one address refuse no token, session or link that is real', async () => {
  const clock = newClock()
  const engine = await newEngine(clock)
  const first = await startAccess({}, { clock, engine })
  const browser = new Browser(first.url)
  await browser.post(pathOf(await first.access.firstLink()), '', form)
  const link = pathOf(await first.access.firstLink())
  const maker = { kind: 'user', actor: 'x', name: 'x', scopes: new Set(['read'] as const), tenants: null } as const
  const { token } = await first.access.tokens.create({ name: 'unused', scopes: ['read'] }, maker)
  // Another server of the store, which has seen none of them.
  const { url } = await startAccess({ failureBounds: { burst: 3, everyMs: 2_000 } }, { clock, engine })
  const elsewhere = new Browser(url)
  for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
  const secret = 'c'.repeat(64)
  for (let guess = 0; guess < 30; guess++) {
    await ask(`${url}/probe`, bearer(WRONG_TOKEN))
    await ask(`${url}/probe`, { headers: { cookie: `reprise=${secret}` } })
    await new Browser(url).post(`/auth/link/${secret}`, '', form)
  }
  expect((await ask(`${url}/probe`, bearer(WRONG_TOKEN))).status).toBe(429)
  expect((await ask(`${url}/probe`, bearer(token))).status).toBe(200)
  expect((await elsewhere.get('/probe')).status).toBe(200)
  expect((await new Browser(url).post(link, '', form)).status).toBe(303)
})

test('intruder 11: a token of before there were seals goes on to work', async () => {
  const { url, engine, access } = await startAccess()
  const maker = { kind: 'user', actor: 'x', name: 'x', scopes: new Set(['read'] as const), tenants: null } as const
  const { facts } = await access.tokens.create({ name: 'old', scopes: ['read'] }, maker)
  const tokens = engine.collection<{ id: string; digest: string }>({ name: 'tokens', indexes: {} })
  const stored = await tokens.get(facts.id)
  if (stored === null) throw new Error('It is not there.')
  const secret = 'd'.repeat(64)
  const digest = createHash('sha256').update(secret).digest('hex')
  await tokens.update({ ...stored.document, digest }, stored.version)
  expect((await ask(`${url}/probe`, bearer(`rpr_${facts.id}_${secret}`))).status).toBe(200)
})

test('a header of a proxy that nobody named is told of, once', async () => {
  const warnings: string[] = []
  const warn = (message: string): void => void warnings.push(message)
  const { url } = await startAccess({ warn })
  const forwarded = { headers: { ...bearer(WRONG_TOKEN).headers, 'x-forwarded-for': '203.0.113.1' } }
  for (let turn = 0; turn < 3; turn++) await ask(`${url}/probe`, forwarded)
  expect(warnings).toEqual([expect.stringMatching(/127\.0\.0\.1.*REPRISE_TRUSTED_PROXIES/)])
  const trusting = await startAccess({ warn, trustedProxies: ['127.0.0.1'] })
  await ask(`${trusting.url}/probe`, forwarded)
  await ask(`${trusting.url}/probe`, bearer(WRONG_TOKEN))
  expect(warnings).toHaveLength(1)
})

test('intruder 11: a forged X-Forwarded-For does not help', async () => {
  const { url } = await startAccess({ failureBounds: { burst: 3, everyMs: 2_000 } })
  const statuses: number[] = []
  for (let tries = 0; tries < 5; tries++) {
    const headers = { ...bearer(WRONG_TOKEN).headers, 'x-forwarded-for': `203.0.113.${tries}` }
    statuses.push((await ask(`${url}/probe`, { headers })).status)
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429])
})

test('intruder 11: behind a proxy that is trusted, each caller counts for themselves', async () => {
  const { url } = await startAccess({ failureBounds: { burst: 1, everyMs: 2_000 }, trustedProxies: ['127.0.0.0/8'] })
  const from = async (forwarded: string) => {
    const headers = { ...bearer(WRONG_TOKEN).headers, 'x-forwarded-for': forwarded }
    return (await ask(`${url}/probe`, { headers })).status
  }
  expect(await from('203.0.113.1')).toBe(401)
  expect(await from('203.0.113.1')).toBe(429)
  expect(await from('203.0.113.2')).toBe(401)
  // What the caller wrote itself stands before what the proxy added.
  expect(await from('198.51.100.9, 203.0.113.1')).toBe(429)
})

test('intruder 11: only what trusted proxies added to X-Forwarded-For counts', () => {
  const addresses = new RemoteAddresses(['10.0.0.0/8', '::1'])
  expect(addresses.addressOf('192.0.2.1', '1.2.3.4')).toBe('192.0.2.1')
  expect(addresses.addressOf('::ffff:10.0.0.1', '1.2.3.4, 198.51.100.7, 10.0.0.2')).toBe('198.51.100.7')
  expect(addresses.addressOf('::1', '2001:db8::1')).toBe('2001:db8::1')
  expect(addresses.addressOf('10.0.0.1', 'nonsense')).toBe('10.0.0.1')
  expect(addresses.addressOf('10.0.0.1', undefined)).toBe('10.0.0.1')
  expect(new RemoteAddresses([]).addressOf('10.0.0.1', '1.2.3.4')).toBe('10.0.0.1')
  expect(() => new RemoteAddresses(['10.0.0.0/33'])).toThrow(/no address of a proxy/)
  expect(() => new RemoteAddresses(['proxy.example'])).toThrow(/no address of a proxy/)
})

test('intruder 11: all addresses of one IPv6 network count as one', () => {
  expect(RemoteAddresses.groupOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
  expect(RemoteAddresses.groupOf('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64')
  expect(RemoteAddresses.groupOf('2001:0db8::1')).toBe('2001:db8:0:0::/64')
  expect(RemoteAddresses.groupOf('::1')).toBe('0:0:0:0::/64')
  expect(RemoteAddresses.groupOf('192.0.2.1')).toBe('192.0.2.1')
})

test('A12: what a route asks for decides: nothing, to be known, or a scope', () => {
  const viewer = { kind: 'user', actor: 'x', name: 'x', scopes: new Set(['read'] as const), tenants: null } as const
  expect(() => authorise(null, 'public', 'health')).not.toThrow()
  expect(() => authorise(null, 'known', 'me')).toThrow(expect.objectContaining({ status: 401 }))
  expect(() => authorise(viewer, 'known', 'me')).not.toThrow()
  expect(() => authorise(viewer, 'read', 'listTasks')).not.toThrow()
  expect(() => authorise(viewer, 'operate', 'cancelTask')).toThrow(expect.objectContaining({ status: 403 }))
})

test('A12: options that can not be meant are refused in words', async () => {
  const engine = await newEngine(newClock())
  const base = { engine, publicUrl: 'http://127.0.0.1:1' }
  const issuers = (issuer: string, audiences: readonly string[] = ['a']) => ({
    ...base,
    issuers: [{ issuer, audiences }],
  })
  await expect(openAccess(issuers('http://issuer.example'))).rejects.toThrow(/https/)
  await expect(openAccess(issuers('https://user:secret@issuer.example'))).rejects.toThrow(/without a user name/)
  await expect(openAccess(issuers('https://issuer.example', []))).rejects.toThrow(/needs an audience/)
  const twice = [...issuers('https://a.example').issuers, ...issuers('https://a.example').issuers]
  await expect(openAccess({ ...base, issuers: twice })).rejects.toThrow(/configured twice/)
  await expect(openAccess({ ...base, google: { clientIds: ['a'], domains: ['*.example.com'] } })).rejects.toThrow(
    /domain/,
  )
  await expect(openAccess(Object.assign({ oidc: true }, base))).rejects.toThrow(/no access option 'oidc'/)
  const silent = await openAccess({ ...base, google: { clientIds: ['a'] } })
  expect(silent.warnings).toEqual([expect.stringContaining('no rule gives anybody a role')])
})
