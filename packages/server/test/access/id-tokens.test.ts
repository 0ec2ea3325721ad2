// ID tokens as bearer tokens: every way a token can be wrong, and what happens when the issuer is.

import type { Claims, OidcIssuer } from '@reprise/test-servers'
import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { IdTokens } from '../../src/access/id-tokens.ts'
import { type AccessServer, ask, bearer, newClock, newIssuer, type Settings, startAccess } from './fixture.ts'

const CLIENT_IDS = ['web-client', 'phone-client']

interface Setting {
  readonly server: AccessServer
  readonly issuer: OidcIssuer
  /** Claims of a good token of Google. */
  readonly google: (changes?: Claims) => Claims
  readonly look: (token: string) => ReturnType<typeof ask>
}

async function start(google: Partial<NonNullable<Settings['google']>> = {}, settings: Settings = {}): Promise<Setting> {
  const clock = newClock()
  const issuer = await newIssuer(clock)
  const server = await startAccess(
    {
      google: { clientIds: CLIENT_IDS, jwksUrl: issuer.jwksUrl, ...google },
      rules: [{ domain: 'example.com', role: 'viewer' }],
      ...settings,
    },
    { clock },
  )
  return {
    server,
    issuer,
    google: (changes = {}) =>
      issuer.claims({ iss: 'https://accounts.google.com', aud: 'web-client', hd: 'example.com', ...changes }),
    look: (token) => ask(`${server.url}/probe`, bearer(token)),
  }
}

test('A12: RS256, as Google signs, is accepted', async () => {
  const clock = newClock()
  const issuer = await newIssuer(clock, { alg: 'RS256' })
  const google = { clientIds: CLIENT_IDS, jwksUrl: issuer.jwksUrl }
  const server = await startAccess({ google, admins: ['ann@example.com'] }, { clock })
  const claims = { iss: 'https://accounts.google.com', aud: 'web-client', hd: 'example.com' }
  const token = await issuer.sign(issuer.claims(claims))
  expect((await ask(`${server.url}/probe`, bearer(token))).status).toBe(200)
  const confused = await issuer.signedWithPublicKey(issuer.claims({ iss: 'accounts.google.com', aud: 'web-client' }))
  expect((await ask(`${server.url}/probe`, bearer(confused))).status).toBe(401)
})

test('A12: a Google ID token for one of our client ids lets its owner in, under both names of the issuer', async () => {
  const { issuer, google, look } = await start()
  const one = await look(await issuer.sign(google()))
  expect([one.status, one.json.actor]).toEqual([200, expect.stringMatching(/^google:ann@example\.com#[0-9a-f]{8}$/)])
  const other = await look(await issuer.sign(google({ iss: 'accounts.google.com', aud: 'phone-client' })))
  expect([other.status, other.json.actor]).toEqual([200, one.json.actor])
})

test('A12: a token without the header value Bearer, or in another scheme, is refused with a challenge', async () => {
  const { server, issuer, google } = await start()
  const token = await issuer.sign(google())
  for (const authorization of [token, `Basic ${token}`, 'Bearer', 'Bearer  ', `Bearer ${token} ${token}`]) {
    const answer = await ask(`${server.url}/probe`, { headers: { authorization } })
    expect([authorization.slice(0, 10), answer.status, answer.json.code]).toEqual([
      authorization.slice(0, 10),
      401,
      'REPRISE_UNAUTHENTICATED',
    ])
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="reprise"')
  }
})

const seconds = (clock: { now(): number }): number => Math.floor(clock.now() / 1_000)

const bad: readonly [title: string, status: number, make: (setting: Setting) => Promise<string> | string][] = [
  ['alg none', 401, ({ issuer, google }) => issuer.unsigned(google())],
  ['HS256 with the public key', 401, ({ issuer, google }) => issuer.signedWithPublicKey(google())],
  ['a strange key under a known id', 401, ({ issuer, google }) => issuer.sign(google(), { strangeKey: true })],
  ['a wrong audience', 401, ({ issuer, google }) => issuer.sign(google({ aud: 'somebody-else' }))],
  ['no audience', 401, ({ issuer, google }) => issuer.sign(google({ aud: undefined }))],
  ['a wrong issuer', 401, ({ issuer, google }) => issuer.sign(google({ iss: 'https://accounts.google.com.evil' }))],
  ['no issuer', 401, ({ issuer, google }) => issuer.sign(google({ iss: undefined }))],
  ['an expired one', 401, ({ issuer, google, server }) => issuer.sign(google({ exp: seconds(server.clock) - 31 }))],
  ['no expiry', 401, ({ issuer, google }) => issuer.sign(google({ exp: undefined }))],
  ['not yet valid', 401, ({ issuer, google, server }) => issuer.sign(google({ nbf: seconds(server.clock) + 60 }))],
  ['an access token', 401, ({ issuer, google }) => issuer.sign(google(), { typ: 'at+jwt' })],
  ['email_verified false', 403, ({ issuer, google }) => issuer.sign(google({ email_verified: false }))],
  ['email_verified missing', 403, ({ issuer, google }) => issuer.sign(google({ email_verified: undefined }))],
  ['email_verified as a text', 403, ({ issuer, google }) => issuer.sign(google({ email_verified: 'true' }))],
  ['no email', 403, ({ issuer, google }) => issuer.sign(google({ email: undefined }))],
  ['a control character in the email', 403, ({ issuer, google }) => issuer.sign(google({ email: 'a\n@example.com' }))],
  ['several audiences and no azp', 401, ({ issuer, google }) => issuer.sign(google({ aud: ['web-client', 'x'] }))],
  [
    'several audiences and the azp of another',
    401,
    ({ issuer, google }) => issuer.sign(google({ aud: ['web-client', 'x'], azp: 'x' })),
  ],
  ['an azp that is no text', 401, ({ issuer, google }) => issuer.sign(google({ aud: ['web-client', 'x'], azp: 7 }))],
  ['a subject that is no line of text', 401, ({ issuer, google }) => issuer.sign(google({ sub: 'a\nb' }))],
  ['text that is no token', 401, () => 'not-a-token'],
  ['10,000 characters', 401, () => `a.${'b'.repeat(10_000)}.c`],
]

test.each(bad)('intruder 1: an ID token with %s is answered with %i', async (_, status, make) => {
  const setting = await start()
  const answer = await setting.look(await make(setting))
  expect([answer.status, answer.json.code]).toEqual([
    status,
    status === 401 ? 'REPRISE_UNAUTHENTICATED' : 'REPRISE_FORBIDDEN',
  ])
  const good = await setting.look(await setting.issuer.sign(setting.google()))
  expect(good.status).toBe(200)
})

test('intruder 1: HS256 is refused also if a shared secret were among the keys', async () => {
  const clock = newClock()
  const secret = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
  const issuer = await newIssuer(clock)
  const trusted = {
    source: 'oidc',
    names: [issuer.url],
    audiences: [issuer.clientId],
    keys: { keyFor: async () => secret },
    hostedDomains: [],
    domains: [],
    groupsClaim: 'groups',
  } as const
  const token = await new SignJWT({ ...issuer.claims() }).setProtectedHeader({ alg: 'HS256' }).sign(secret)
  await expect(new IdTokens([trusted], clock).verify(token)).rejects.toMatchObject({ status: 401 })
})

test('intruder 2: only what stands after the last @ is the domain', async () => {
  const { issuer, google, look } = await start({ domains: ['example.com'] })
  expect((await look(await issuer.sign(google({ email: '"a@evil.com"@example.com' })))).status).toBe(200)
})

test('intruder 1: clocks may differ by half a minute, not more', async () => {
  const { server, issuer, google, look } = await start()
  const now = seconds(server.clock)
  expect((await look(await issuer.sign(google({ exp: now - 29 })))).status).toBe(200)
  expect((await look(await issuer.sign(google({ nbf: now + 29 })))).status).toBe(200)
  const token = await issuer.sign(google({ exp: now + 10 }))
  server.clock.jump(41_000)
  expect((await look(token)).status).toBe(401)
})

test('intruder 1: where a hosted domain is required, a token without hd or with another one gets 403', async () => {
  const { issuer, google, look } = await start({ hostedDomains: ['example.com'] })
  expect((await look(await issuer.sign(google({ hd: undefined })))).status).toBe(403)
  expect((await look(await issuer.sign(google({ hd: 'example.com.evil.com' })))).status).toBe(403)
  expect((await look(await issuer.sign(google({ hd: ['example.com'] })))).status).toBe(403)
  expect((await look(await issuer.sign(google({ hd: 'example.com' })))).status).toBe(200)
})

test('intruder 1: of several audiences the one it was made for must be ours', async () => {
  const { issuer, google, look } = await start()
  const aud = ['somebody-else', 'phone-client']
  expect((await look(await issuer.sign(google({ aud, azp: 'phone-client' })))).status).toBe(200)
  expect((await look(await issuer.sign(google({ aud: ['web-client'] })))).status).toBe(200)
  // With one audience Google names the app that asked there, for a server of its own.
  expect((await look(await issuer.sign(google({ azp: 'an-app-of-ours' })))).status).toBe(200)
})

const unsure: readonly [title: string, hd: unknown][] = [
  ['no hd', undefined],
  ['the hd of another organisation', 'evil.com'],
  ['an hd that is no text', ['example.com']],
]

test.each(unsure)('intruder 2: a Google account with %s passes no rule about domains or addresses', async (_, hd) => {
  const byDomain = await start({}, { rules: [{ domain: 'example.com', role: 'admin' }] })
  expect((await byDomain.look(await byDomain.issuer.sign(byDomain.google({ hd })))).status).toBe(403)
  const byEmail = await start({}, { rules: [], admins: ['ann@example.com'] })
  const refused = await byEmail.look(await byEmail.issuer.sign(byEmail.google({ hd })))
  expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining('belongs to no organisation')])
  const admitted = await start({ domains: ['example.com'] }, { rules: [{ anyone: true, role: 'viewer' }] })
  expect((await admitted.look(await admitted.issuer.sign(admitted.google({ hd })))).status).toBe(403)
  expect((await admitted.look(await admitted.issuer.sign(admitted.google()))).status).toBe(200)
})

test('A12: Google vouches for its own mail, and a trusted organisation for its other domains', async () => {
  const mail = await start({}, { rules: [], admins: ['ann@gmail.com'] })
  expect((await mail.look(await mail.issuer.sign(mail.google({ email: 'ann@gmail.com', hd: undefined })))).status).toBe(
    200,
  )
  const rules = [{ email: 'ann@brand.example', role: 'viewer' }] as const
  const group = await start({ hostedDomains: ['example.com'] }, { rules })
  expect((await group.look(await group.issuer.sign(group.google({ email: 'ann@brand.example' })))).status).toBe(200)
})

test('intruder 2: a person is known by issuer and subject, not by an address that changes hands', async () => {
  const { issuer, google, look } = await start()
  const actor = async (claims: Claims) => (await look(await issuer.sign(google(claims)))).json.actor
  const ann = await actor({ sub: '1' })
  expect(await actor({ sub: '1' })).toBe(ann)
  expect(await actor({ sub: '2' })).not.toBe(ann)
})

test('intruder 2: a rule belongs to an issuer: another one that vouches for the address gives nothing', async () => {
  const clock = newClock()
  const [ours, other] = [await newIssuer(clock), await newIssuer(clock)]
  const issuers = [ours, other].map(({ url, clientId }) => ({ issuer: url, audiences: [clientId] }))
  await expect(startAccess({ issuers, admins: ['ann@example.com'] }, { clock })).rejects.toThrow(/several issuers/)
  const rules = [{ email: 'ann@example.com', role: 'admin', issuer: ours.url }] as const
  const server = await startAccess({ issuers, rules }, { clock })
  const me = async (by: OidcIssuer) => ask(`${server.url}/api/v1/me`, bearer(await by.sign(by.claims())))
  expect((await me(ours)).status).toBe(200)
  expect((await me(other)).status).toBe(403)
})

const strangers = [
  'x@example.com.evil.com',
  'x@evil-example.com',
  'x@sub.example.com',
  'x@example.com@evil.com',
  '"x@example.com"@evil.com',
  'x@example.com.',
  // The Kelvin sign, whose lower case is a plain k, in a domain of ours.
  'x@wor\u212a.example',
]

test.each(strangers)('intruder 2: %s is in no allowed domain, 403', async (email) => {
  const rules = [{ anyone: true, role: 'viewer' }] as const
  const { issuer, google, look } = await start({ domains: ['example.com', 'work.example'] }, { rules })
  const answer = await look(await issuer.sign(google({ email })))
  expect([answer.status, answer.json.code]).toEqual([403, 'REPRISE_FORBIDDEN'])
  expect((await look(await issuer.sign(google({ email: 'X@EXAMPLE.COM' })))).json.actor).toMatch(
    /^google:x@example\.com#/,
  )
})

test.each(strangers)('intruder 2: %s gets nothing from a rule for the domain', async (email) => {
  const { issuer, google, look } = await start(
    {},
    {
      rules: [
        { domain: 'example.com', role: 'admin' },
        { domain: 'work.example', role: 'admin' },
      ],
    },
  )
  expect((await look(await issuer.sign(google({ email })))).status).toBe(403)
})

test('intruder 2: a flood of unknown key ids costs the issuer one question per cooldown', async () => {
  const { server, issuer, google, look } = await start({}, { failureBounds: { burst: 1_000, everyMs: 1 } })
  expect((await look(await issuer.sign(google()))).status).toBe(200)
  expect(issuer.asked.get('/jwks')).toBe(1)
  server.clock.jump(30_000)
  const flood = Array.from({ length: 100 }, async (_, index) => look(await issuer.sign(google(), { kid: `k${index}` })))
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([401]))
  expect(issuer.asked.get('/jwks')).toBe(2)
  expect((await look(await issuer.sign(google()))).status).toBe(200)
  expect(issuer.asked.get('/jwks')).toBe(2)
})

test('intruder 2: a new key counts after the cooldown, and a withdrawn one stops to count', async () => {
  const { server, issuer, google, look } = await start()
  const old = await issuer.sign(google())
  expect((await look(old)).status).toBe(200)
  await issuer.rotate()
  const young = await issuer.sign(google())
  expect((await look(young)).status).toBe(401)
  server.clock.jump(30_000)
  expect((await look(young)).status).toBe(200)
  expect((await look(old)).status).toBe(401)
})

test.each(['failing', 'huge'] as const)(
  'A12: while the issuer is %s, keys that are known go on to count',
  async (trouble) => {
    const { server, issuer, google, look } = await start()
    expect((await look(await issuer.sign(google()))).status).toBe(200)
    issuer.trouble(trouble)
    server.clock.jump(3_600_000)
    const token = await issuer.sign(google())
    expect((await look(token)).status).toBe(200)
    expect((await look(token)).status).toBe(200)
    expect(issuer.asked.get('/jwks')).toBe(2)
  },
)

test('A12: an issuer that never answers holds a request up for its deadline only', async () => {
  const { server, issuer, google, look } = await start()
  issuer.trouble('silent')
  const asked = look(await issuer.sign(google()))
  await expect.poll(() => issuer.asked.get('/jwks')).toBe(1)
  await server.clock.advance(5_000)
  const answer = await asked
  expect([answer.status, answer.json.code]).toEqual([503, 'REPRISE_UNREACHABLE'])
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('A12: keys that can not be had lead to 503, not to 401, and are asked for again later', async () => {
  const { server, issuer, google, look } = await start()
  issuer.trouble('huge')
  const token = await issuer.sign(google())
  expect((await look(token)).status).toBe(503)
  issuer.trouble('none')
  expect((await look(token)).status).toBe(503)
  server.clock.jump(30_000)
  expect((await look(token)).status).toBe(200)
})

test('A12: tokens of any configured issuer count, with keys found by its discovery document', async () => {
  const clock = newClock()
  const [issuer, stranger] = [await newIssuer(clock), await newIssuer(clock)]
  const server = await startAccess(
    {
      issuers: [{ issuer: issuer.url, audiences: [issuer.clientId], groupsClaim: 'teams' }],
      rules: [{ group: 'ops', role: 'operator', tenants: ['acme'] }],
    },
    { clock },
  )
  const me = async (by: OidcIssuer, claims: Claims) => ask(`${server.url}/api/v1/me`, bearer(await by.sign(claims)))
  expect((await me(issuer, issuer.claims({ teams: ['dev', 'ops'] }))).json).toEqual({
    kind: 'user',
    actor: expect.stringMatching(/^oidc:ann@example\.com#[0-9a-f]{8}$/) as unknown,
    name: 'Ann Example',
    scopes: ['read', 'submit', 'operate'],
    tenants: ['acme'],
  })
  expect((await me(issuer, issuer.claims({ teams: 'ops' }))).status).toBe(403)
  expect((await me(stranger, stranger.claims({ teams: ['ops'] }))).status).toBe(401)
  expect((await me(stranger, issuer.claims({ teams: ['ops'] }))).status).toBe(401)
})

test('A12: somebody whom no rule knows gets 403 and is told what to do', async () => {
  const { issuer, google, look } = await start()
  const answer = await look(await issuer.sign(google({ email: 'bob@elsewhere.com', hd: 'elsewhere.com' })))
  expect([answer.status, answer.json.detail]).toEqual([
    403,
    expect.stringContaining('no rule gives that address a role'),
  ])
})
