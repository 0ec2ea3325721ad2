// Sessions as an admin sees them: listed without their secrets, and revoked on every server.

import { ROLES } from '@reprise/operations'
import { expect, test } from 'vitest'
import { ask, Browser, bearer, newClock, newIssuer, startAccess } from './fixture.ts'

const MAKER = { kind: 'user', actor: 'x', name: 'x', scopes: new Set(ROLES.admin), tenants: null } as const

interface Listed {
  readonly id: string
  readonly actor: string
}

async function signedIn() {
  const clock = newClock()
  const issuer = await newIssuer(clock)
  const signIn = { issuer: issuer.url, clientId: issuer.clientId }
  const settings = { signIn, rules: [{ domain: 'example.com', role: 'operator' }] } as const
  const server = await startAccess(settings, { clock })
  const other = await startAccess(settings, { clock, engine: server.engine })
  const browser = new Browser(server.url)
  await browser.signIn()
  const admin = await server.access.tokens.create({ name: 'admin', scopes: ROLES.admin }, MAKER)
  const list = async () =>
    (await ask(`${server.url}/api/v1/sessions`, bearer(admin.token))).json.items as readonly Listed[]
  return { clock, issuer, server, other, browser, admin: admin.token, list }
}

test('A12: sessions are listed without what the browser has', async () => {
  const { clock, browser, list } = await signedIn()
  const now = clock.now()
  const sessions = await list()
  expect(sessions).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{16}$/) as unknown,
      actor: expect.stringMatching(/^oidc:ann@example\.com#/) as unknown,
      name: 'Ann Example',
      startedAt: now,
      seenAt: now,
      endsAt: now + 12 * 3_600_000,
    },
  ])
  for (const secret of browser.cookies.values()) expect(JSON.stringify(sessions)).not.toContain(secret)
  clock.jump(2 * 3_600_000)
  expect(await list()).toEqual([])
})

test('A12: a session that is revoked is over on every server, and the journal says who ended it', async () => {
  const { server, other, browser, admin, list } = await signedIn()
  const elsewhere = new Browser(other.url)
  for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
  expect((await elsewhere.get('/probe')).status).toBe(200)
  const [session] = await list()
  const revoke = { method: 'DELETE', ...bearer(admin) }
  expect((await ask(`${server.url}/api/v1/sessions/${session?.id}`, revoke)).status).toBe(204)
  expect((await browser.get('/probe')).status).toBe(401)
  expect((await elsewhere.get('/probe')).status).toBe(401)
  expect((await ask(`${server.url}/api/v1/sessions/${session?.id}`, revoke)).status).toBe(404)
  const { entries } = await server.engine.journal.read({})
  expect(entries.findLast(({ type }) => type !== 'operation.performed')).toMatchObject({
    actor: 'token:admin',
    reason: `A session of ${session?.actor} was revoked.`,
    data: { id: session?.id },
  })
})

test('A12: only admins of the whole store see and end sessions', async () => {
  const { server, list } = await signedIn()
  const [session] = await list()
  const make = (name: string, scopes: (typeof ROLES)['admin' | 'operator'], tenants: readonly string[] | null) =>
    server.access.tokens.create({ name, scopes, tenants: tenants as never }, MAKER)
  for (const { token } of [await make('op', ROLES.operator, null), await make('acme', ROLES.admin, ['acme'])]) {
    expect((await ask(`${server.url}/api/v1/sessions`, bearer(token))).status).toBe(403)
    const revoke = { method: 'DELETE', ...bearer(token) }
    expect((await ask(`${server.url}/api/v1/sessions/${session?.id}`, revoke)).status).toBe(403)
  }
})

test('intruder 2: somebody else who gets the address later neither finds nor ends sessions of the one before', async () => {
  const { issuer, server, browser, list } = await signedIn()
  issuer.signInAs({ sub: 'subject-2' })
  for (let turn = 0; turn < 12; turn++) await new Browser(server.url).signIn()
  expect((await browser.get('/probe')).status).toBe(200)
  expect(new Set((await list()).map(({ actor }) => actor)).size).toBe(2)
})

test('intruder 2: a session of before people had subjects is over', async () => {
  const { server, browser, list } = await signedIn()
  interface Old {
    readonly id: string
    readonly identity: object
  }
  const sessions = server.engine.collection<Old>({ name: 'sessions', indexes: {} })
  const { items } = await sessions.list()
  for (const { document, version } of items) {
    const identity = { source: 'oidc', email: 'ann@example.com', name: 'Ann', groups: [] }
    await sessions.update({ ...document, identity }, version)
  }
  expect(await list()).toEqual([])
  expect((await browser.get('/probe')).status).toBe(401)
})
