// API tokens: made, used, looked at and revoked over HTTP, by people and by other tokens, on several servers of one store.

import { type Engine, type TenantId, tenantId } from '@reprise/core'
import type { Caller } from '@reprise/operations'
import { ROLES, type Scope, tenantScope } from '@reprise/operations'
import { expect, test } from 'vitest'
import { digestOf, isSameDigest } from '../../../operations/src/access/secrets.ts'
import { type AccessServer, type Answered, ask, bearer, newClock, newEngine, startAccess } from './fixture.ts'

const caller = (scopes: readonly Scope[], tenants: readonly string[] | null = null): Caller => ({
  kind: 'user',
  actor: 'google:ann@example.com',
  name: 'Ann',
  scopes: new Set(scopes),
  tenants: tenants?.map((tenant) => tenantId(tenant)) ?? null,
})

const admin = caller(ROLES.admin)

async function made(server: AccessServer, name: string, scopes: readonly Scope[], tenants?: readonly TenantId[]) {
  return server.access.tokens.create({ name, scopes, ...(tenants === undefined ? {} : { tenants }) }, admin)
}

const call = (server: AccessServer, token: string, method: string, path: string, body?: unknown): Promise<Answered> =>
  ask(`${server.url}${path}`, {
    method,
    headers: { ...bearer(token).headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

/** Counts what is read from the store. */
function counting(engine: Engine): {
  readonly engine: Engine
  readonly gets: () => number
  readonly updates: () => number
} {
  let gets = 0
  let updates = 0
  const counted = new Proxy(engine, {
    get(target, property) {
      if (property !== 'collection') return Reflect.get(target, property) as unknown
      return (definition: Parameters<Engine['collection']>[0]) => {
        const collection = target.collection(definition)
        return {
          ...collection,
          get: (id: string) => {
            gets++
            return collection.get(id)
          },
          update: (document: { readonly id: string }, version: number) => {
            updates++
            return collection.update(document, version)
          },
        }
      }
    },
  })
  return { engine: counted, gets: () => gets, updates: () => updates }
}

test('intruder 7: a token is shown once, and the store has only its digest', async () => {
  const server = await startAccess()
  const root = await made(server, 'root', ROLES.admin)
  const answer = await call(server, root.token, 'POST', '/api/v1/tokens', {
    name: 'deploys',
    scopes: ['read', 'submit'],
  })
  expect(answer.status).toBe(201)
  expect(answer.json).toMatchObject({
    name: 'deploys',
    scopes: ['read', 'submit'],
    tenants: null,
    createdBy: 'token:root',
  })
  const token = String(answer.json.token)
  expect(token).toMatch(/^rpr_[0-9a-f]{16}_[0-9a-f]{64}$/)
  expect((await call(server, token, 'GET', '/probe')).json).toEqual({ actor: 'token:deploys' })

  const secret = token.split('_')[2] ?? ''
  const stored = await server.engine.collection({ name: 'tokens', indexes: {} }).list()
  expect(stored.items).toHaveLength(2)
  expect(JSON.stringify(stored)).not.toContain(secret)
  const listed = await call(server, root.token, 'GET', '/api/v1/tokens')
  expect(listed.body).not.toMatch(/digest|"token"/)
  expect((listed.json.items as { name: string }[]).map(({ name }) => name)).toEqual(['root', 'deploys'])
  const journal = await server.engine.journal.read()
  expect(journal.entries.slice(-2)).toMatchObject([
    { actor: 'token:root', reason: "The API token 'deploys' was made." },
    { actor: 'token:root', type: 'operation.performed', data: { operation: 'createToken' } },
  ])
  expect(JSON.stringify(journal)).not.toContain(secret)
})

test('intruder 7: wrong secrets, unknown ids and strange forms are refused alike', async () => {
  const server = await startAccess()
  const { token } = await made(server, 'ci', ['read'])
  const [, id = '', secret = ''] = token.split('_')
  const flipped = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
  const wrong = [
    `rpr_${id}_${flipped}`,
    `rpr_${id}_${'0'.repeat(64)}`,
    `rpr_${'0'.repeat(16)}_${secret}`,
    `rpr_${id}_`,
    `rpr_${id}`,
    'rpr_',
    `${token}x`,
    token.toUpperCase().replace('RPR', 'rpr'),
    `rpr_../../x_${secret}`,
    `rpr___proto___${secret}`,
  ]
  for (const attempt of wrong) {
    const answer = await call(server, attempt, 'GET', '/probe')
    expect([attempt, answer.status, answer.json.detail]).toEqual([
      attempt,
      401,
      'The API token was refused. There is no such token, or it was revoked.',
    ])
  }
  expect((await call(server, token, 'GET', '/probe')).status).toBe(200)
})

test('intruder 7: a token does what its scopes say, and nothing else', async () => {
  const server = await startAccess()
  const reader = await made(server, 'reader', ['read'])
  expect((await call(server, reader.token, 'GET', '/probe')).status).toBe(200)
  const refused = await call(server, reader.token, 'POST', '/probe', {})
  expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining("'operate'")])
  expect((await call(server, reader.token, 'GET', '/api/v1/tokens')).status).toBe(403)
  const worker = await made(server, 'worker-1', ['work'])
  expect((await call(server, worker.token, 'POST', '/claim', {})).status).toBe(200)
  expect((await call(server, worker.token, 'GET', '/probe')).status).toBe(403)
})

test('intruder 7: a revoked token is refused at once here, and within a second on every other server', async () => {
  const clock = newClock()
  const engine = await newEngine(clock)
  const [one, other] = [await startAccess({}, { clock, engine }), await startAccess({}, { clock, engine })]
  const root = await made(one, 'root', ROLES.admin)
  const { token, facts } = await made(one, 'ci', ['read'])
  for (const server of [one, other]) expect((await call(server, token, 'GET', '/probe')).status).toBe(200)
  clock.jump(500)
  expect((await call(one, root.token, 'DELETE', `/api/v1/tokens/${facts.id}`)).status).toBe(204)
  expect((await call(one, token, 'GET', '/probe')).status).toBe(401)
  clock.jump(500)
  expect((await call(other, token, 'GET', '/probe')).status).toBe(401)
  expect((await call(one, root.token, 'DELETE', `/api/v1/tokens/${facts.id}`)).status).toBe(404)
})

test('intruder 7: a token ends when it was said to', async () => {
  const server = await startAccess()
  const root = await made(server, 'root', ROLES.admin)
  const answer = await call(server, root.token, 'POST', '/api/v1/tokens', {
    name: 'short',
    role: 'viewer',
    expiresIn: '1h',
  })
  const token = String(answer.json.token)
  server.clock.jump(3_599_999)
  expect((await call(server, token, 'GET', '/probe')).status).toBe(200)
  server.clock.jump(1)
  const over = await call(server, token, 'GET', '/probe')
  expect([over.status, over.json.detail]).toEqual([401, expect.stringContaining('expired')])
})

interface Wanted {
  readonly title: string
  readonly maker: Caller
  readonly scopes: readonly Scope[]
  readonly tenants?: readonly string[] | null
}

const acmeAdmin = caller(ROLES.admin, ['acme'])

const granted: readonly Wanted[] = [
  { title: 'a worker token by an admin', maker: admin, scopes: ['work'] },
  { title: 'an admin token by an admin', maker: admin, scopes: ROLES.admin },
  { title: 'read by a holder of read and tokens', maker: caller(['read', 'tokens']), scopes: ['read'] },
  { title: 'one of two tenants', maker: caller(ROLES.admin, ['acme', 'blue']), scopes: ['read'], tenants: ['blue'] },
]

const tooMuch: readonly Wanted[] = [
  {
    title: 'operate by a holder of read and tokens',
    maker: caller(['read', 'tokens']),
    scopes: ['read', 'operate'],
  },
  { title: 'work by a holder of tokens', maker: caller(['tokens']), scopes: ['work'] },
  { title: 'a tenant by a holder of another', maker: acmeAdmin, scopes: ['read'], tenants: ['blue'] },
  { title: 'two tenants by a holder of one', maker: acmeAdmin, scopes: ['read'], tenants: ['acme', 'blue'] },
  { title: 'all tenants by a holder of one', maker: acmeAdmin, scopes: ['read'], tenants: null },
]

async function grant({ maker, scopes, tenants }: Wanted) {
  const { access } = await startAccess()
  const wanted = tenants === undefined ? {} : { tenants: tenants?.map((tenant) => tenantId(tenant)) ?? null }
  return access.tokens.create({ name: 'new', scopes, ...wanted }, maker)
}

test.each(granted)('A12: what somebody has they can give to a token: $title', async (wanted) => {
  expect((await grant(wanted)).facts.scopes).toEqual(wanted.scopes)
})

test.each(tooMuch)('intruder 7: nobody gives away more than they have: $title', async (wanted) => {
  await expect(grant(wanted)).rejects.toMatchObject({ code: 'REPRISE_FORBIDDEN', status: 403 })
})

test('intruder 7: a token whose maker has one tenant has that one too, and sees no token of others', async () => {
  const server = await startAccess()
  const acme = await server.access.tokens.create({ name: 'acme', scopes: ROLES.admin }, caller(ROLES.admin, ['acme']))
  const whole = await made(server, 'whole', ['read'])
  const blue = await made(server, 'blue', ['read'], [tenantId('blue')])
  expect(acme.facts.tenants).toEqual(['acme'])
  const child = await call(server, acme.token, 'POST', '/api/v1/tokens', { name: 'child', role: 'viewer' })
  expect(child.json.tenants).toEqual(['acme'])
  const listed = await call(server, acme.token, 'GET', '/api/v1/tokens')
  expect((listed.json.items as { name: string }[]).map(({ name }) => name)).toEqual(['acme', 'child'])
  for (const { facts } of [whole, blue]) {
    expect((await call(server, acme.token, 'DELETE', `/api/v1/tokens/${facts.id}`)).status).toBe(404)
  }
  expect((await call(server, blue.token, 'GET', '/probe')).status).toBe(200)
})

test("intruder 7: another tenant's id is answered with 404", () => {
  const bound = caller(ROLES.viewer, ['acme'])
  expect(tenantScope(bound, undefined)).toEqual({ tenant: 'acme' })
  expect(() => tenantScope(bound, tenantId('blue'))).toThrow(expect.objectContaining({ status: 404 }))
})

test('intruder 7: two tokens can not have one name, which the journal knows them by', async () => {
  const server = await startAccess()
  const root = await made(server, 'root', ROLES.admin)
  const again = await call(server, root.token, 'POST', '/api/v1/tokens', { name: 'root', role: 'viewer' })
  expect([again.status, again.json.code]).toEqual([409, 'REPRISE_CONFLICT'])
})

test.each([
  ['neither scopes nor a role', { name: 'x' }],
  ['both', { name: 'x', role: 'viewer', scopes: ['read'] }],
  ['no scope', { name: 'x', scopes: [] }],
  ['an unknown scope', { name: 'x', scopes: ['root'] }],
  ['no tenant', { name: 'x', role: 'viewer', tenants: [] }],
  ['a name with a line end', { name: 'x\ny', role: 'viewer' }],
  ['a name that climbs', { name: '../x', role: 'viewer' }],
])('A12: a token with %s is not made', async (_, body) => {
  const server = await startAccess()
  const root = await made(server, 'root', ROLES.admin)
  expect((await call(server, root.token, 'POST', '/api/v1/tokens', body)).status).toBe(400)
})

test('intruder 7: the store is asked once a second for a token, however often it comes, right or wrong', async () => {
  const clock = newClock()
  const counted = counting(await newEngine(clock))
  const server = await startAccess({ engine: counted.engine, failureBounds: { burst: 1_000, everyMs: 1 } }, { clock })
  const { token, facts } = await made(server, 'ci', ['read'])
  const wrong = `rpr_${'a'.repeat(16)}_${'b'.repeat(64)}`
  const flood = async () => {
    const all = [token, wrong].flatMap((one) => Array.from({ length: 50 }, () => call(server, one, 'GET', '/probe')))
    return (await Promise.all(all)).map(({ status }) => status)
  }
  const before = counted.gets()
  expect(new Set(await flood())).toEqual(new Set([200, 401]))
  expect(counted.gets() - before).toBe(2)
  clock.jump(1_000)
  await flood()
  expect(counted.gets() - before).toBe(4)
  expect(facts.lastUsedAt).toBeNull()
})

test('A12: the last use of a token is written down at most once a minute', async () => {
  const clock = newClock()
  const counted = counting(await newEngine(clock))
  const server = await startAccess({ engine: counted.engine }, { clock })
  const { token } = await made(server, 'ci', ['read'])
  const first = clock.now()
  const lastUsed = async () => (await server.access.tokens.list(admin)).items[0]?.lastUsedAt
  for (let second = 0; second < 59; second++) {
    expect((await call(server, token, 'GET', '/probe')).status).toBe(200)
    clock.jump(1_000)
  }
  await server.access.tokens.close()
  expect([counted.updates(), await lastUsed()]).toEqual([1, first])
  clock.jump(1_000)
  await call(server, token, 'GET', '/probe')
  await server.access.tokens.close()
  expect([counted.updates(), await lastUsed()]).toEqual([2, first + 60_000])
})

test('A12: a token that is used while it is revoked does not come back', async () => {
  const server = await startAccess()
  const { token, facts } = await made(server, 'ci', ['read'])
  expect((await call(server, token, 'GET', '/probe')).status).toBe(200)
  server.clock.jump(60_000)
  await Promise.all([call(server, token, 'GET', '/probe'), server.access.tokens.revoke(facts.id, admin)])
  await server.access.tokens.close()
  expect(await server.engine.collection({ name: 'tokens', indexes: {} }).get(facts.id)).toBeNull()
})

test('intruder 7: digests are compared whole, also if they differ in length', () => {
  const digest = digestOf('a')
  expect(isSameDigest(digest, digestOf('a'))).toBe(true)
  expect(isSameDigest(digest, digestOf('b'))).toBe(false)
  expect(isSameDigest(digest, digest.slice(0, -1))).toBe(false)
  expect(isSameDigest(digest, '')).toBe(false)
})

test('intruder 7: a token with an end makes none that outlives it', async () => {
  const server = await startAccess()
  const { clock } = server
  const hour = 3_600_000
  const { token } = await server.access.tokens.create(
    { name: 'short', scopes: ROLES.admin, expiresAt: clock.now() + hour },
    admin,
  )
  const make = (body: object) => call(server, token, 'POST', '/api/v1/tokens', { role: 'viewer', ...body })
  const longer = await make({ name: 'longer', expiresIn: '61m' })
  expect([longer.status, longer.json.detail]).toEqual([403, expect.stringContaining('can not outlive')])
  expect((await make({ name: 'same' })).json.expiresAt).toBe(clock.now() + hour)
  expect((await make({ name: 'shorter', expiresIn: '30m' })).json.expiresAt).toBe(clock.now() + hour / 2)
})

const alike: readonly [title: string, name: string][] = [
  ['a Cyrillic letter', 'dеploys'],
  ['a zero-width space', 'deploys\u200b'],
  ['a zero-width joiner', 'de\u200dploys'],
  ['a soft hyphen', 'de\u00adploys'],
  ['a full-width letter', 'ｄeploys'],
  ['a mark upon a letter', 'deploy\u0301s'],
  ['a change of direction', '\u202edeploys'],
  ['a space at the end', 'deploys '],
  ['two spaces', 'my  deploys'],
  ['a no-break space', 'my\u00a0deploys'],
  ['what stands between tenant and name', 'acme/deploys'],
  ['no letter', '...'],
]

test.each(alike)(
  'intruder 7: a name with %s is refused: it would look like another in the journal',
  async (_, name) => {
    const server = await startAccess()
    await expect(made(server, name, ['read'])).rejects.toMatchObject({ code: 'REPRISE_INVALID' })
  },
)

test.each(['deploys', 'my deploys', 'ci:main:7', 'ann@example.com', 'a', 'v1.2+b_3-x'])(
  'the name %s is as good as any',
  async (name) => {
    const server = await startAccess()
    expect((await made(server, name, ['read'])).facts.name).toBe(name)
  },
)
