// Signing in with a browser at an issuer over HTTP: the way there and back, what can go wrong on it, and the session.

import { SESSIONS_PER_PERSON_MAX } from '@reprise/operations'
import type { OidcIssuer } from '@reprise/test-servers'
import { expect, test } from 'vitest'
import { checkedReturnPath } from '../../src/access/return-path.ts'
import {
  type AccessServer,
  ask,
  Browser,
  newClock,
  newEngine,
  newIssuer,
  type Settings,
  startAccess,
} from './fixture.ts'

const HOUR_MS = 3_600_000
const SECRET = 'the-client-secret'

interface Setting {
  readonly server: AccessServer
  readonly issuer: OidcIssuer
  readonly browser: Browser
}

async function start(settings: Settings = {}): Promise<Setting> {
  const clock = newClock()
  const issuer = await newIssuer(clock, { clientSecret: SECRET })
  const server = await startAccess({ ...signInAt(issuer), ...settings }, { clock })
  return { server, issuer, browser: new Browser(server.url) }
}

const signInAt = (issuer: OidcIssuer): Settings => ({
  signIn: { issuer: issuer.url, clientId: issuer.clientId, clientSecret: SECRET },
  rules: [{ domain: 'example.com', role: 'operator' }],
})

const storedSessions = async ({ engine }: AccessServer): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const { items } = await engine.collection({ name: 'sessions', indexes: {} }).list()
  return items.map(({ document }) => document as unknown as Readonly<Record<string, unknown>>)
}

test('A12: a browser signs in at an OIDC issuer, comes back to where it wanted, and is known', async () => {
  const { browser, server } = await start()
  const back = await browser.signIn('/tasks?q=status%3Adead')
  expect([back.status, back.headers.get('location')]).toEqual([303, '/tasks?q=status%3Adead'])
  expect((await browser.get('/probe')).json).toEqual({
    actor: expect.stringMatching(/^oidc:ann@example\.com#/) as unknown,
  })
  const session = browser.setCookies.find((header) => header.startsWith('reprise='))
  expect(session).toMatch(/^reprise=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/)
  expect([...browser.cookies.keys()]).toEqual(['reprise'])
  const [stored] = await storedSessions(server)
  expect(JSON.stringify(stored)).not.toContain(browser.cookies.get('reprise'))
})

test('A12: a public client signs in by PKCE alone', async () => {
  const clock = newClock()
  const issuer = await newIssuer(clock)
  const signIn = { issuer: issuer.url, clientId: issuer.clientId }
  const server = await startAccess({ signIn, admins: ['ann@example.com'] }, { clock })
  const browser = new Browser(server.url)
  expect((await browser.signIn()).status).toBe(303)
  expect((await browser.get('/probe')).status).toBe(200)
})

test('A12: behind https the cookie is Secure and bound to the host', async () => {
  const { access } = await startAccess({ publicUrl: 'https://reprise.example.com' })
  expect(access.sessionCookie.write('x', 60)).toBe(
    '__Host-reprise=x; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=60',
  )
  expect(access.sessionCookie.read('reprise=a; __Host-reprise=b')).toBe('b')
  expect(access.sessionCookie.read('__Host-reprise=a; __Host-reprise=b')).toBeNull()
})

test('A12: over plain http to another host nobody gets a session', async () => {
  const { access, url } = await startAccess({ publicUrl: 'http://reprise.example.com' })
  const answer = await ask(`${url}/probe`, { headers: { cookie: `reprise=${'0'.repeat(64)}` } })
  expect([answer.status, answer.json.detail]).toEqual([401, expect.stringContaining('Say who you are')])
  expect(() => access.sessionCookie).toThrow(/over plain http/)
  expect(await access.firstLink()).toBeNull()
})

const elsewhere = [
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  'https://evil.example',
  'https:evil.example',
  'javascript:alert(1)',
  'evil.example',
  '/%2f/evil.example',
  '/%2F%2Fevil.example',
  '/%5cevil.example',
  '/%255cevil.example',
  '/%25252fevil.example',
  '/\t/evil.example',
  '/%09/evil.example',
  '/\n/evil.example',
  '/tasks\r\nset-cookie: a=b',
  '/..//evil.example',
  '/.//evil.example',
  '/%2e%2e//evil.example',
  '/%',
  '',
  ' /tasks',
  `/${'a'.repeat(1_001)}`,
]

test.each(elsewhere)('intruder 3: a sign-in that would return to %j is refused', async (returnTo) => {
  expect(() => checkedReturnPath(returnTo)).toThrow(/must be a path on this server/)
})

test('intruder 3: open redirect over HTTP: 400, no cookie, and nobody is sent anywhere', async () => {
  const { browser } = await start()
  for (const returnTo of ['//evil.example', '/\\evil.example', 'https://evil.example/', '/%2f/evil.example']) {
    const answer = await browser.signIn(returnTo)
    expect([answer.status, answer.headers.get('location'), browser.setCookies]).toEqual([400, null, []])
  }
})

test('intruder 3: a place to return to that was changed in the cookie on the way is refused too', async () => {
  const { browser } = await start()
  const begun = await browser.get('/auth/sign-in')
  const flow = JSON.parse(Buffer.from(browser.cookies.get('reprise-flow') ?? '', 'base64url').toString()) as object
  const changed = Buffer.from(JSON.stringify({ ...flow, returnTo: '//evil.example' })).toString('base64url')
  browser.cookies.set('reprise-flow', changed)
  const atIssuer = await browser.get(begun.headers.get('location') ?? '')
  const back = await browser.get(atIssuer.headers.get('location') ?? '')
  expect([back.status, back.headers.get('location')]).toEqual([400, null])
})

test.each(['/', '/tasks', '/tasks/a%20b?x=1#top', '/a//b', '/tasks?next=https://a.example'])(
  'A12: a sign-in may return to %s',
  (path) => {
    expect(checkedReturnPath(path)).toBe(path)
  },
)

test('A12: a place to return to is escaped as far as a header needs it', () => {
  expect(checkedReturnPath('/tasks/Ω')).toBe('/tasks/%CE%A9')
})

test('intruder 3: coming back without having begun, with another state, or twice, is refused', async () => {
  const { browser, server } = await start()
  const begun = await browser.get('/auth/sign-in')
  const atIssuer = await browser.get(begun.headers.get('location') ?? '')
  const back = atIssuer.headers.get('location') ?? ''

  const stranger = await new Browser(server.url).get(back)
  expect([stranger.status, stranger.json.code]).toEqual([401, 'REPRISE_UNAUTHENTICATED'])
  const otherState = new URL(back)
  otherState.searchParams.set('state', 'guessed')
  expect((await browser.get(otherState.href)).status).toBe(401)
  expect(await storedSessions(server)).toEqual([])

  const flow = browser.cookies.get('reprise-flow') ?? ''
  expect((await browser.get(back)).status).toBe(303)
  browser.cookies.set('reprise-flow', flow)
  expect((await browser.get(back)).status).toBe(401)
})

test('intruder 3: whoever has the code but not the verifier gets no session', async () => {
  const { browser, server, issuer } = await start()
  const begun = await browser.get('/auth/sign-in')
  const flow = JSON.parse(Buffer.from(browser.cookies.get('reprise-flow') ?? '', 'base64url').toString()) as object
  const changed = Buffer.from(JSON.stringify({ ...flow, verifier: 'x'.repeat(43) })).toString('base64url')
  browser.cookies.set('reprise-flow', changed)
  const atIssuer = await browser.get(begun.headers.get('location') ?? '')
  expect((await browser.get(atIssuer.headers.get('location') ?? '')).status).toBe(401)
  expect(issuer.asked.get('/token')).toBe(1)
  expect(await storedSessions(server)).toEqual([])
})

test('A12: a sign-in that takes longer than ten minutes has to start again', async () => {
  const { browser, server } = await start()
  const begun = await browser.get('/auth/sign-in')
  const atIssuer = await browser.get(begun.headers.get('location') ?? '')
  server.clock.jump(10 * 60_000)
  expect((await browser.get(atIssuer.headers.get('location') ?? '')).status).toBe(401)
})

test.each([
  ['another nonce', { nonce: 'replayed' }, 401],
  ['another audience', { aud: 'somebody-else' }, 401],
  ['another issuer', { iss: 'https://elsewhere.example' }, 401],
  ['an email that is not verified', { email_verified: false }, 403],
  ['somebody whom no rule knows', { email: 'bob@elsewhere.com' }, 403],
  ['x@example.com.evil.com', { email: 'x@example.com.evil.com' }, 403],
])('intruder 1: a sign-in that ends with %s gives no session', async (_, claims, status) => {
  const { browser, server, issuer } = await start()
  issuer.spoil(claims)
  expect((await browser.signIn()).status).toBe(status)
  expect(browser.cookies.has('reprise')).toBe(false)
  expect(await storedSessions(server)).toEqual([])
})

test('A12: when the issuer says no, so do we', async () => {
  const { browser } = await start()
  await browser.get('/auth/sign-in')
  const { state } = JSON.parse(Buffer.from(browser.cookies.get('reprise-flow') ?? '', 'base64url').toString()) as {
    readonly state: string
  }
  const back = await browser.get(`/auth/callback?error=access_denied&state=${state}`)
  expect([back.status, back.json.detail]).toEqual([401, expect.stringContaining('could not be finished')])
})

test('A12: while the issuer is down nobody signs in there, sessions go on, and it works again afterwards', async () => {
  const { browser, server, issuer } = await start()
  expect((await browser.signIn()).status).toBe(303)
  issuer.trouble('failing')
  expect((await browser.get('/probe')).status).toBe(200)
  await server.stop()
  const next = await startAccess(signInAt(issuer), { clock: server.clock, engine: server.engine })
  const other = new Browser(next.url)
  expect((await other.signIn()).status).toBe(503)
  issuer.trouble('none')
  expect((await other.signIn()).status).toBe(303)
})

test('A12: a session outlives the server and is known to every server of the store', async () => {
  const { browser, server, issuer } = await start()
  await browser.signIn()
  await server.stop()
  for (const name of ['second', 'third']) {
    const next = await startAccess(signInAt(issuer), { clock: server.clock, engine: server.engine })
    const same = new Browser(next.url)
    same.cookies.set('reprise', browser.cookies.get('reprise') ?? '')
    expect([name, (await same.get('/probe')).status]).toEqual([name, 200])
  }
})

test('A12: a session ends two hours after its last use', async () => {
  const { browser, server } = await start()
  await browser.signIn()
  server.clock.jump(2 * HOUR_MS)
  expect((await browser.get('/probe')).status).toBe(401)
  expect(await storedSessions(server)).toEqual([])
})

test('A12: a session ends twelve hours after it began, however busy it is', async () => {
  const { browser, server } = await start()
  await browser.signIn()
  for (let hour = 1; hour < 12; hour++) {
    server.clock.jump(HOUR_MS)
    expect([hour, (await browser.get('/probe')).status]).toEqual([hour, 200])
  }
  server.clock.jump(HOUR_MS)
  const over = await browser.get('/probe')
  expect([over.status, over.json.detail]).toEqual([401, 'Your session is over. Sign in again.'])
})

test('A12: an old cookie does not stand in the way of signing in, and is replaced', async () => {
  const { browser, server } = await start()
  await browser.signIn()
  const first = browser.cookies.get('reprise')
  server.clock.jump(60_000)
  await browser.signIn()
  expect(browser.cookies.get('reprise')).not.toBe(first)
  expect(await storedSessions(server)).toHaveLength(1)
  browser.cookies.set('reprise', '0'.repeat(64))
  expect((await browser.get('/probe')).status).toBe(401)
  expect((await browser.signIn()).status).toBe(303)
  expect((await browser.get('/probe')).status).toBe(200)
})

test('A12: signing out ends the session everywhere at once', async () => {
  const { browser, server } = await start()
  await browser.signIn()
  const secret = browser.cookies.get('reprise') ?? ''
  expect((await browser.post('/auth/sign-out')).status).toBe(204)
  expect(browser.cookies.has('reprise')).toBe(false)
  expect(await storedSessions(server)).toEqual([])
  browser.cookies.set('reprise', secret)
  expect((await browser.get('/probe')).status).toBe(401)
})

test('A12: one person has a bounded number of sessions, and the oldest goes first', async () => {
  const { server } = await start()
  const browsers = Array.from({ length: SESSIONS_PER_PERSON_MAX + 1 }, () => new Browser(server.url))
  for (const browser of browsers) await browser.signIn()
  expect(await storedSessions(server)).toHaveLength(SESSIONS_PER_PERSON_MAX)
  expect((await browsers[0]?.get('/probe'))?.status).toBe(401)
  expect((await browsers[1]?.get('/probe'))?.status).toBe(200)
})

test('A12: sessions of people who never came back leave the store', async () => {
  const { browser, server, issuer } = await start()
  await browser.signIn()
  server.clock.jump(13 * HOUR_MS)
  await server.access.sessions.begin({
    source: 'oidc',
    issuer: issuer.url,
    subject: 'bob',
    email: 'bob@example.com',
    isEmailTheirs: true,
    name: 'Bob',
    groups: [],
  })
  expect((await storedSessions(server)).map(({ identity }) => (identity as { email: string }).email)).toEqual([
    'bob@example.com',
  ])
  expect(issuer.asked.get('/token')).toBe(1)
})

test('A12: a rule that was taken away takes effect on sessions that are open', async () => {
  const { browser, server, issuer } = await start()
  await browser.signIn()
  await server.stop()
  const settings = { ...signInAt(issuer), rules: [{ domain: 'example.com', role: 'viewer' }] } as const
  const next = await startAccess(settings, { clock: server.clock, engine: server.engine })
  const same = new Browser(next.url)
  same.cookies.set('reprise', browser.cookies.get('reprise') ?? '')
  expect((await same.get('/probe')).status).toBe(200)
  expect((await same.post('/probe')).status).toBe(403)
})

test('A12: without an issuer there is nothing to sign in at, and the answer says so', async () => {
  const clock = newClock()
  const server = await startAccess({}, { clock, engine: await newEngine(clock) })
  const answer = await new Browser(server.url).get('/auth/sign-in')
  expect([answer.status, answer.json.detail]).toEqual([404, expect.stringContaining('REPRISE_OIDC_ISSUER')])
})
