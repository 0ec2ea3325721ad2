// Who came in, and how, is in the journal.

import { expect, test } from 'vitest'
import { type AccessServer, Browser, newClock, newIssuer, startAccess } from './fixture.ts'

async function notes({ engine }: AccessServer) {
  const { entries } = await engine.journal.read({})
  return entries.map(({ type, actor, reason, data }) => ({ type, actor, reason, data }))
}

test('A12: a sign-in at an issuer is in the journal; one that is refused is not', async () => {
  const clock = newClock()
  const issuer = await newIssuer(clock)
  const signIn = { issuer: issuer.url, clientId: issuer.clientId }
  const server = await startAccess({ signIn, rules: [{ domain: 'example.com', role: 'operator' }] }, { clock })
  expect((await new Browser(server.url).signIn()).status).toBe(303)
  expect(await notes(server)).toEqual([
    {
      type: 'note',
      actor: expect.stringMatching(/^oidc:ann@example\.com#[0-9a-f]{8}$/) as unknown,
      reason: expect.stringMatching(/^oidc:ann@example\.com#[0-9a-f]{8} signed in at the issuer\.$/) as unknown,
      data: { signIn: 'issuer', issuer: issuer.url, subject: 'subject-1' },
    },
  ])
  const strict = await startAccess({ signIn, rules: [{ domain: 'elsewhere.example', role: 'operator' }] }, { clock })
  expect((await new Browser(strict.url).signIn()).status).toBe(403)
  expect(await notes(strict)).toEqual([])
})

test('A12: the use of a one-time link is in the journal, and its code is not', async () => {
  const server = await startAccess()
  const { pathname } = new URL((await server.access.firstLink()) ?? '')
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await new Browser(server.url).post(pathname, '', form)).status).toBe(303)
  expect((await new Browser(server.url).post(pathname, '', form)).status).toBe(401)
  const found = await notes(server)
  expect(found).toEqual([
    {
      type: 'note',
      actor: 'local:admin',
      reason: 'local:admin signed in by the one-time link.',
      data: { signIn: 'link' },
    },
  ])
})
