// What only a server has: policies, tokens, ready-made figures; and what a caller's rights mean for a client.

import { isRepriseError } from '@reprise/client'
import { expect, test } from 'vitest'
import { caught } from './fixture.ts'
import { serve } from './served.ts'

const POLICIES = `
policies:
  - name: patient
    match: { actions: [invoice.*] }
    retries: 5
    backoff: { kind: fixed, delay: 10s, jitter: 0 }
`

test('policies are tried, published, read back by version, and not overwritten unseen', async () => {
  const { client } = await serve()
  expect(await client.policies.current()).toMatchObject({ version: null })
  expect(await client.policies.publish(POLICIES, { dryRun: true })).toMatchObject({ version: null })
  expect(await client.policies.publish(POLICIES, { expected: 0 })).toMatchObject({ version: { number: 1 } })
  expect(await caught(client.policies.publish('policies: []', { expected: 0 }))).toMatchObject({
    code: 'REPRISE_CONFLICT',
    name: 'ConflictError',
  })
  expect(await caught(client.policies.publish('policies: {'))).toMatchObject({ code: 'REPRISE_INVALID' })
  expect((await client.policies.current()).version?.text).toBe(POLICIES)
  expect((await client.policies.versions()).items.map(({ number }) => number)).toEqual([1])
  expect((await client.policies.version(1))?.by).toBe('token:tests')
  expect(await client.policies.version(9)).toBeNull()
  expect((await client.policies.templates()).length).toBeGreaterThan(0)
  const { attempts } = await client.policies.simulate({ action: 'invoice.send', failure: { code: 'ECONNRESET' } })
  expect(attempts).toHaveLength(6)
  expect(attempts[0]).toMatchObject({ failure: { code: 'ECONNRESET' }, decision: { kind: 'retry', delayMs: 10_000 } })
})

test('intruder 7: a token is made, seen without its secret, used and revoked', async () => {
  const { client, connect } = await serve()
  const made = await client.tokens.create({ name: 'ci', role: 'viewer', expiresIn: '1h' })
  expect(made).toMatchObject({ name: 'ci', scopes: ['read'], tenants: null })
  const listed = (await client.tokens.list()).items.find(({ id }) => id === made.id)
  expect(listed).toBeDefined()
  expect(JSON.stringify(listed)).not.toContain(made.token)

  const viewer = await connect({ token: made.token })
  expect(await viewer.tokens.me()).toMatchObject({ kind: 'token', actor: 'token:ci', scopes: ['read'] })
  const refused = await caught(viewer.submit('sum', 1))
  expect(isRepriseError(refused, 'REPRISE_FORBIDDEN')).toBe(true)
  expect(String(refused)).not.toContain(made.token)

  await client.tokens.revoke(made.id)
  expect(await caught(client.tokens.revoke(made.id))).toMatchObject({ code: 'REPRISE_NOT_FOUND' })
})

test('intruder 7: a token of one tenant submits for it without naming it, and sees no other', async () => {
  const { client, connect } = await serve()
  const { token } = await client.tokens.create({ name: 'acme', scopes: ['read', 'submit'], tenants: ['acme'] })
  const acme = await connect({ token })
  const other = await client.submit('sum', 1)
  const own = await acme.submit('sum', 1)
  expect((await own.get())?.tenant).toBe('acme')
  expect(await acme.get(other.id)).toBeNull()
  expect((await acme.list()).items.map(({ id }) => id)).toEqual([own.id])
  expect(await caught(acme.submit('sum', 1, { tenant: 'default' }))).toMatchObject({ code: 'REPRISE_FORBIDDEN' })
})

test('C10: figures and what the server is', async () => {
  const { client, engine } = await serve()
  expect(await client.figures.monitoring({ window: '5m' })).toMatchObject({ level: 'ok', windowMs: 300_000 })
  expect(await client.figures.scaling({ pool: 'default', targetWait: '5s' })).toMatchObject([{ pool: 'default' }])
  expect(await client.info()).toMatchObject({
    engine: { kind: engine.info.kind },
    server: { version: '0.0.0-test', maxRetries: 1, flags: { 'dlq-inspector': true } },
  })
})

test('over HTTP the journal names the owner of the token, and another name is refused', async () => {
  const { client } = await serve()
  await client.pause({ tenant: 'x' }, { reason: 'why not' })
  const [entry] = (await client.journal()).entries.filter(({ type }) => type === 'lanes.paused')
  expect(entry).toMatchObject({ actor: 'token:tests', reason: 'why not' })
  expect(await caught(client.pause({ tenant: 'x' }, { actor: 'operator:ann' }))).toMatchObject({
    code: 'REPRISE_INVALID',
    message: expect.stringContaining('token') as string,
  })
})

test('a client that is closed answers every call with one code', async () => {
  const { client } = await serve()
  const watching = client.watch({ cursor: (await client.journal()).cursor }).next()
  await client.close()
  expect(await watching).toMatchObject({ done: true })
  expect(await caught(client.counts())).toMatchObject({ code: 'REPRISE_STORE_CLOSED' })
})
