// What a caller's rights mean for a client over HTTP.

import { isRepriseError } from '@reprise/client'
import { expect, test } from 'vitest'
import { caught } from './fixture.ts'
import { serve } from './served.ts'

test('intruder 7: a token gives the rights that it was made with, and no message shows it', async () => {
  const { client, connect } = await serve()
  const made = await client.createToken({ name: 'ci', role: 'viewer', expiresIn: '1h' })
  const viewer = await connect({ token: made.token })
  expect(await viewer.me()).toMatchObject({ kind: 'token', actor: 'token:ci', scopes: ['read'] })
  const refused = await caught(viewer.submit('sum', 1))
  expect(isRepriseError(refused, 'REPRISE_FORBIDDEN')).toBe(true)
  expect(String(refused)).not.toContain(made.token)
})

test('intruder 7: a token of one tenant submits for it without naming it, and sees no other', async () => {
  const { client, connect } = await serve()
  const { token } = await client.createToken({ name: 'acme', scopes: ['read', 'submit'], tenants: ['acme'] })
  const acme = await connect({ token })
  const other = await client.submit('sum', 1)
  const own = await acme.submit('sum', 1)
  expect((await own.get())?.tenant).toBe('acme')
  expect(await acme.task(other.id).get()).toBeNull()
  expect((await acme.listTasks()).items.map(({ id }) => id)).toEqual([own.id])
  expect(await caught(acme.submit('sum', 1, { tenant: 'default' }))).toMatchObject({ code: 'REPRISE_FORBIDDEN' })
})

test('the journal names the owner of the token, and nobody can give another name', async () => {
  const { client } = await serve()
  await client.pauseLanes({ tenant: 'x', reason: 'why not' })
  const { items } = await client.listEvents({ type: 'lanes.paused' })
  expect(items).toMatchObject([{ data: { actor: 'token:tests', reason: 'why not' } }])
  const named = { tenant: 'x', actor: 'operator:ann' }
  expect(await caught(client.pauseLanes(named))).toMatchObject({ code: 'REPRISE_INVALID' })
})

test('the journal is searched by who did it and by time', async () => {
  const { client, connect } = await serve()
  const { token } = await client.createToken({ name: 'Night Shift', role: 'operator' })
  const shift = await connect({ token })
  await client.pauseLanes({ tenant: 'x', reason: 'first' })
  await shift.pauseLanes({ tenant: 'y', reason: 'second' })
  const reasons = async (query: Parameters<typeof client.listEvents>[0]): Promise<string[]> =>
    (await client.listEvents({ type: 'lanes.*', ...query })).items.map(({ data }) => data.reason)
  expect(await reasons({ actor: 'night' })).toEqual(['second'])
  expect(await reasons({ actor: 'TOKEN:', newest: true })).toEqual(['second', 'first'])
  expect(await reasons({ actor: 'nobody' })).toEqual([])
  expect(await reasons({ since: '1h', until: '0s' })).toEqual(['first', 'second'])
  expect(await reasons({ until: '1h' })).toEqual([])
  expect(await caught(client.listEvents({ until: '2030-99-01T00:00:00Z' }))).toMatchObject({ code: 'REPRISE_INVALID' })
})

test('intruder 7: who is limited to a tenant finds no worker by its name in the journal', async () => {
  const { client, connect, engine } = await serve()
  const { token } = await client.createToken({ name: 'acme', scopes: ['read'], tenants: ['acme'] })
  const acme = await connect({ token })
  const entry = { type: 'note', taskId: null, attempt: null, reason: 'here', data: { tenant: 'acme' } } as const
  await engine.journal.append([{ ...entry, actor: 'worker:vm-7' }])
  expect((await acme.listEvents({ actor: 'worker' })).items).toMatchObject([{ data: { actor: 'worker' } }])
  expect((await acme.listEvents({ actor: 'vm-7' })).items).toEqual([])
  expect((await client.listEvents({ actor: 'vm-7' })).items).toHaveLength(1)
})

test('the server says what it is', async () => {
  const { client, engine } = await serve()
  expect(await client.info()).toMatchObject({
    engine: { kind: engine.info.kind },
    version: '0.0.0-test',
    maxRetries: 1,
  })
})

test('a client that is closed answers every call with one code', async () => {
  const { client } = await serve()
  const watching = client.watch({ cursor: (await client.listEvents()).cursor }).next()
  await client.close()
  expect(await watching).toMatchObject({ done: true })
  expect(await caught(client.counts())).toMatchObject({ code: 'REPRISE_STORE_CLOSED' })
})
